import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('RT6: a write that a full disk cut short leaves every other entry readable, in this process and the next', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = [process.execPath, '--conditions=tendon-source', join(import.meta.dirname, 'fixtures/full-disk.ts'), folder];
  const script = 'mount -t tmpfs -o size=128k,mode=0700 tmpfs "$0" && exec "$@"';
  const output = execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script, folder, ...program], {
    encoding: 'utf8',
  });
  const entries = {
    before: ['done', '0'],
    cut: ['started', null],
    'never started, long ': [null, null],
    after: ['done', '2'],
    'under way': ['started', null],
  };
  expect(JSON.parse(output)).toEqual({ full: ['ENOSPC', 'ENOSPC'], same: entries, next: entries, third: entries });
});
