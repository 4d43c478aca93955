import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Secret } from '@tendon/core';

/**
 * The secret in `file`, made on first use (32 random bytes, base64url) and readable by the owner only.
 * Two servers that start at once agree on one: the file appears whole or not at all, and the first one wins.
 */
export async function keptSecret(file: string): Promise<Secret> {
  const kept = await readSecret(file);
  if (kept) return kept;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readSecret(file);
  if (!made) throw new Error(unusable(file));
  return made;
}

async function readSecret(file: string): Promise<Secret | undefined> {
  let kept: Secret;
  try {
    kept = new Secret((await readFile(file, 'utf8')).trim());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(unusable(file), { cause });
  }
  if (!kept.isMaskable) throw new Error(unusable(file));
  return kept;
}

function unusable(file: string): string {
  return `${file} holds no usable secret; delete it and a new one is made`;
}
