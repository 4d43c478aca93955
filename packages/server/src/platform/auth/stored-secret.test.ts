import { chmod, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { storedSecret } from './stored-secret.ts';

const folder = () => mkdtemp(join(tmpdir(), 'tendon-stored-'));

it('SV6: is made once, stored, and readable by the owner only', async () => {
  const file = join(await folder(), 'deep', 'jwt-secret');
  const made = await storedSecret(file);
  expect(made.reveal().length).toBeGreaterThanOrEqual(43);
  expect((await storedSecret(file)).reveal()).toBe(made.reveal());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('SV6: those who ask at once get the same', async () => {
  const home = await folder();
  const all = await Promise.all(Array.from({ length: 20 }, () => storedSecret(join(home, 'jwt-secret'))));
  expect(new Set(all.map((secret) => secret.reveal())).size).toBe(1);
  expect(await readdir(home)).toEqual(['jwt-secret']);
});

it('SV6: a spoiled file is reported, not replaced', async () => {
  const file = join(await folder(), 'jwt-secret');
  await writeFile(file, 'x');
  await chmod(file, 0o600);
  await expect(storedSecret(file)).rejects.toThrow('holds no usable secret');
});
