import { randomUUID } from 'node:crypto';
import { chmod, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedMutex } from '@tendon/core';

/** Long enough for any usual tree, and with one more name and the path of the folder itself below what a path may have (4,096 bytes). */
const MAX_BYTES_BELOW = 2048;

const removals = new KeyedMutex();

/**
 * Removes a folder that somebody else filled, whatever they did to make that hard: trees too deep for a path to name, and folders that
 * their owner may not enter. Nobody may write in it meanwhile. Does nothing where there is none.
 */
export function removeFolder(path: string): Promise<void> {
  return removals.run(path, () => remove(path));
}

async function remove(path: string): Promise<void> {
  const again = () => rm(path, { recursive: true, force: true });
  await again().catch(async () => {
    await flatten(path);
    await again();
  });
}

/**
 * Opens each folder to its owner, and moves those to the top whose paths grow too long. Names may be no text, so paths are bytes. The
 * removal that failed has parts that still go on: what they removed meanwhile is no matter.
 */
async function flatten(top: string): Promise<void> {
  const folders = [Buffer.from(top)];
  const nearer = join(top, `.removed-${randomUUID()}-`);
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of await openedFolders(folder).catch(unlessGone)) {
      const child = Buffer.concat([folder, Buffer.from('/'), name]);
      const near = Buffer.from(`${nearer}${count++}`);
      const isLong = child.length - top.length > MAX_BYTES_BELOW;
      if (isLong) await move(child, near).catch(unlessGone);
      folders.push(isLong ? near : child);
    }
  }
}

/** A folder can go to another parent only when it can be written itself. */
async function move(folder: Buffer, to: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  await rename(folder, to);
}

async function openedFolders(folder: Buffer): Promise<readonly Buffer[]> {
  await chmod(folder, 0o700);
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function unlessGone(error: NodeJS.ErrnoException): readonly Buffer[] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}
