import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor } from '../testing/start-executor.ts';

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

it('RT400: an effect that the journal has no room for is refused in words, and runs when it is sent again', async () => {
  const executor = await startExecutor();
  onTestFinished(() => executor.kill());
  const touch = () => executor.lines({ key: 'k', action: { action: 'run', args: { command: 'touch ran' } } });
  await executor.lines({ key: 'before', action: { action: 'run', args: { command: 'true' } } });
  // The kernel refuses to let the journal grow, as a full disk does.
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(executor.process.pid), `--fsize=${bytes}:unlimited`]);
  limit(statSync(join(executor.config.folders.stateDir, 'journal.ndjson')).size);
  expect(await touch()).toMatchObject([{ type: 'refused', reason: expect.stringMatching(/^it could not be recorded: EFBIG/) }]);
  expect(existsSync(join(executor.workspace, 'ran'))).toBe(false);
  limit('unlimited');
  expect((await touch()).at(-1)).toMatchObject({ type: 'outcome' });
  expect(existsSync(join(executor.workspace, 'ran'))).toBe(true);
});
