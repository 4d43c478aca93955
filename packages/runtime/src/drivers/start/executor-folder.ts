import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The executor's program: one read-only folder and the Node that runs it. */
export interface ExecutorFolder {
  /** Absolute host path of the folder. */
  readonly folder: string;
  /** Entry file, relative to `folder`. */
  readonly entry: string;
  /** The Node binary. */
  readonly node: string;
}

/**
 * Gives one sandbox an executor of its own, which stays when the installation is replaced or removed under it: an executor
 * outlives its server, and reads some of its files late. Links where that is possible, copies otherwise. Resolves with the folder.
 */
export async function keepExecutor(installed: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const entries = await readdir(installed, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [from, to] = [join(installed, entry.name), join(folder, entry.name)];
      if (entry.isDirectory()) return void (await keepExecutor(from, to));
      await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
    }),
  );
  return folder;
}
