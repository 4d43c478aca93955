import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { measureDisk } from './measure-disk.ts';

const MIB = 1024 ** 2;

/** What a process takes that runs this script of bash in the folder, once it has printed a line. */
async function takenWhile(script: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-measure-'));
  const shell = spawn('/bin/bash', ['-c', `${script}; echo ready; read`], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    shell.stdin.end();
    await once(shell, 'close');
    rmSync(folder, { recursive: true });
  });
  await once(shell.stdout, 'data');
  const processes = async (): Promise<readonly number[]> => [shell.pid!];
  return (await measureDisk({ own: [folder], workspace: folder, givenBytes: 0, processes })).bytes;
}

const OPEN_AND_REMOVE = 'exec 3> hidden; head -c 4M /dev/zero >&3; rm hidden';

it('SB135: a file that was deleted and is still open counts', async () => {
  expect(await takenWhile(OPEN_AND_REMOVE)).toBeGreaterThanOrEqual(4 * MIB);
});

it('SB135: so does one whose path is too long for the kernel to show', async () => {
  const folders = 'n=$(printf "%0200d" 0); for i in {1..25}; do mkdir $n; cd $n; done';
  expect(await takenWhile(`${folders}; ${OPEN_AND_REMOVE}`)).toBeGreaterThanOrEqual(4 * MIB);
});
