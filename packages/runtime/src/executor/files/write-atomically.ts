import { randomBytes } from 'node:crypto';
import { chmod, chown, lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileHandle } from 'node:fs/promises';

/**
 * Replaces a file's content in one step: a new file beside it, synced, then renamed over it. A failure at any point leaves
 * the old file as it was. Mode and owner are kept; a link is followed and stays. Throws what the file system says.
 */
export async function writeAtomically(path: string, fill: Uint8Array | ((file: FileHandle) => Promise<void>)): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const before = await lstat(target).catch(() => undefined);
  if (before && !before.isFile()) throw new Error(`${path} is not a regular file`);
  const temporary = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(temporary, 'wx', 0o666);
  try {
    if (typeof fill === 'function') await fill(file);
    else await file.writeFile(fill);
    await file.sync();
    await file.close();
    if (before) await keepIdentity(temporary, before);
    await rename(temporary, target);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

async function keepIdentity(path: string, before: { mode: number; uid: number; gid: number }): Promise<void> {
  const now = await lstat(path);
  if (now.uid !== before.uid || now.gid !== before.gid) await chown(path, before.uid, before.gid).catch(() => {}); // not ours to give
  await chmod(path, before.mode & 0o7777);
}
