import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdFolder } from '../held-folder.ts';
import { findProtected } from './find-protected.ts';

it('SB567: repositories and folders that were made later put none out of bounds', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-bounds-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const made = (path: string): bigint => {
    mkdirSync(join(folder, path), { recursive: true });
    return statSync(join(folder, path), { bigint: true }).birthtimeNs;
  };
  const near = Array.from({ length: 20 }, (_, index) => `near${index}`);
  const later = Array.from({ length: 60 }, (_, index) => `later${index}`);
  made('mine/inner/.git');
  const births = near.map((name) => made(`${name}/.git`));
  for (let probe = 0; made(`probe/${probe}`) <= births.at(-1)!; probe += 1); // the file system's clock has steps
  for (const name of later) made(`${name}/.git`);
  const held = await holdFolder(folder);
  onTestFinished(() => held.close());
  const found = async (): Promise<readonly string[]> => (await findProtected(held, ['.envrc'])).map(({ path }) => path);
  const before = await found();
  expect(before).toEqual(expect.arrayContaining([...near, 'mine/inner'].map((name) => `${name}/.envrc`)));
  expect(before).toHaveLength(41);
  for (const name of [...near, ...later]) rmSync(join(folder, name), { recursive: true });
  for (let index = 0; index < 520; index += 1) made(`${index}`);
  expect(await found()).toContain('mine/inner/.envrc');
});
