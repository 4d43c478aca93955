import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measureFolder } from './measure-folder.ts';

/** Many cases: the default of a quick test leaves them no room on a busy machine. */
const options = { maxEntries: 1000, deadlineMs: 50_000 };

describe('SB95: what a folder takes', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tendon-measure-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('counts files below it, one with two names once, and follows no link', async () => {
    mkdirSync(join(folder, 'in/deep'), { recursive: true });
    writeFileSync(join(folder, 'in/deep/file'), Buffer.alloc(1024 * 1024, 1));
    linkSync(join(folder, 'in/deep/file'), join(folder, 'again'));
    symlinkSync('/usr', join(folder, 'outside'));
    symlinkSync('.', join(folder, 'round'));
    const { bytes, entries, isComplete } = await measureFolder(folder, options);
    expect({ entries, isComplete }).toEqual({ entries: 6, isComplete: true });
    expect(bytes).toBeGreaterThanOrEqual(1024 * 1024);
    expect(bytes).toBeLessThan(1.2 * 1024 * 1024);
    expect(await measureFolder(join(folder, 'outside'), options)).toMatchObject({ entries: 0 });
  });

  it('SB341: counts an entry without bytes as 4 KiB', async () => {
    for (let i = 0; i < 20; i += 1) writeFileSync(join(folder, String(i)), '');
    symlinkSync('/usr', join(folder, 'outside'));
    expect(await measureFolder(folder, options)).toMatchObject({ bytes: 21 * 4096, entries: 21 });
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'in/file'), Buffer.alloc(1024 * 1024, 1));
    const names = { maxEntries: 1000, deadlineMs: 50_000, namesOnly: true };
    expect(await measureFolder(folder, names)).toEqual({ bytes: 23 * 4096, entries: 23, isComplete: true });
  });

  it('SB514: counts what lies deeper than any path leads', async () => {
    const down = 'for i in $(seq 140); do mkdir -p aside/more $1 && cd $1 || exit 1; done; head -c 1048576 /dev/zero > file; mkdir last';
    execFileSync('bash', ['-c', down, 'bash', 'd'.repeat(40)], { cwd: folder });
    const { bytes, entries, isComplete } = await measureFolder(folder, { ...options, maxEntries: 5000 });
    expect({ entries, isComplete }).toEqual({ entries: 3 * 140 + 2, isComplete: true });
    expect(bytes).toBeGreaterThanOrEqual(1024 * 1024 + 3 * 140 * 4096);
    execFileSync('rm', ['-r', folder]); // deeper than Node's own removal goes
  });

  it('gives up where there is too much, and says so', async () => {
    for (let i = 0; i < 20; i += 1) writeFileSync(join(folder, String(i)), '');
    expect(await measureFolder(folder, { ...options, maxEntries: 10 })).toMatchObject({ entries: 10, isComplete: false });
    expect(await measureFolder(folder, { ...options, deadlineMs: -1 })).toMatchObject({ isComplete: false });
    expect(await measureFolder(join(folder, 'nowhere'), options)).toEqual({ bytes: 0, entries: 0, isComplete: true });
  });
});
