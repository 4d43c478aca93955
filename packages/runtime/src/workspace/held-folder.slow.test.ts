import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { holdFolder } from './held-folder.ts';

function folders(): { readonly path: string; readonly other: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-held-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, 'workspace');
  mkdirSync(path);
  return { path, other: join(root, 'other') };
}

it('SB162: a folder that was removed is known, also when another has its name', async () => {
  const { path } = folders();
  const held = await holdFolder(path);
  expect(held.isRemoved()).toBe(false);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  expect(held.isRemoved()).toBe(true);
  held.close();
  held.close();
  expect(held.isRemoved()).toBe(false);
});

it('SB162: one that was only given another name is not removed', async () => {
  const { path, other } = folders();
  const held = await holdFolder(path);
  renameSync(path, other);
  expect(held.isRemoved()).toBe(false);
  held.close();
});

it('SB162: one that is not there is refused, with what to do', async () => {
  await expect(holdFolder(folders().other)).rejects.toThrow(/is not there any more: put it back, or make it/);
});

it('SB300: a link is refused, in its place and above it, and nothing is made behind one', async () => {
  const { path, other } = folders();
  mkdirSync(other);
  symlinkSync(other, join(path, 'link'));
  for (const wanted of [join(path, 'link'), join(path, 'link/below')]) {
    await expect(holdFolder(wanted)).rejects.toThrow(/a link is in its place or above it/);
    await expect(holdFolder(wanted, { makes: true })).rejects.toThrow(/a link is in its place or above it/);
  }
  expect(readdirSync(other)).toEqual([]);
  await expect(holdFolder(`${path}/../workspace`)).rejects.toThrow(/not the real path/);
});

it('SB300: what is missing is made, and what is held is named by its place, wherever its path leads', async () => {
  const { path, other } = folders();
  const held = await holdFolder(join(path, 'deep/er'), { makes: true });
  renameSync(join(path, 'deep'), other);
  mkdirSync(join(held.place, 'made'));
  expect(existsSync(join(other, 'er/made'))).toBe(true);
  held.close();
  expect(() => held.place).toThrow(/not held any more/);
});

const ROUNDS = runs(10_000);

/** Swaps two entries until its input ends. */
const SWAPPER = `
import ctypes, select, sys
libc = ctypes.CDLL(None)
a, b = (path.encode() for path in sys.argv[1:])
print('began', flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(50): libc.renameat2(-100, a, -100, b, 2)
`;

it('SB301: opened again and again while it is swapped for a link, it is the folder or refused', async () => {
  const { path, other } = folders();
  mkdirSync(join(path, 'inner/below'), { recursive: true });
  mkdirSync(join(other, 'below'), { recursive: true });
  const [inner, link] = [join(path, 'inner'), join(path, 'link')];
  symlinkSync(other, link);
  const swapper = spawn('python3', ['-c', SWAPPER, inner, link], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(swapper.stdout, 'data');
  const seen = { folder: 0, refused: 0, other: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const held = await holdFolder(join(inner, 'below')).catch(() => undefined);
    const isReal = held && /workspace\/(inner|link)\/below$/.test(readlinkSync(`/proc/self/fd/${held.descriptor()}`));
    seen[held === undefined ? 'refused' : isReal ? 'folder' : 'other'] += 1;
    held?.close();
  }
  swapper.stdin.end();
  await once(swapper, 'exit');
  expect(seen.other).toBe(0);
  expect(seen.folder).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
});
