import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdFolder } from './held-folder.ts';

function folders(): { readonly path: string; readonly other: string } {
  const root = mkdtempSync(join(tmpdir(), 'tendon-held-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, 'workspace');
  mkdirSync(path);
  return { path, other: join(root, 'other') };
}

it('SB162: a folder that was removed is known, also when another has its name', () => {
  const { path } = folders();
  const held = holdFolder(path);
  expect(held.isRemoved()).toBe(false);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  expect(held.isRemoved()).toBe(true);
  held.close();
  held.close();
  expect(held.isRemoved()).toBe(false);
});

it('SB162: one that was only given another name is not removed', () => {
  const { path, other } = folders();
  const held = holdFolder(path);
  renameSync(path, other);
  expect(held.isRemoved()).toBe(false);
  held.close();
});

it('SB162: one that is not there when it is held is', () => {
  expect(holdFolder(folders().other).isRemoved()).toBe(true);
});
