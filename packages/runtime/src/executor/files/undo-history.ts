import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What files were before their last edits, kept on disk: it survives the executor. */
export interface UndoHistory {
  /** `before` is undefined for a file that did not exist. */
  push(path: string, before: Uint8Array | undefined): Promise<void>;
  /** The newest state; `remove` it once it is restored. */
  last(path: string): Promise<{ readonly before: Buffer | undefined; remove(): Promise<void> } | undefined>;
}

const KEPT_PER_FILE = 10;
const ABSENT = 'absent';

/** One folder a file, named by the hash of its path; in it one file a state, numbered. */
export function createUndoHistory(folder: string): UndoHistory {
  const folderOf = (path: string): string => join(folder, createHash('sha256').update(path).digest('hex').slice(0, 32));
  const states = async (path: string): Promise<string[]> =>
    (await readdir(folderOf(path)).catch(() => [])).toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));

  return {
    async push(path, before) {
      const names = await states(path);
      const next = names.length === 0 ? 0 : Number.parseInt(names.at(-1)!, 10) + 1;
      await mkdir(folderOf(path), { recursive: true, mode: 0o700 });
      await writeFile(join(folderOf(path), `${next}.${before ? 'bytes' : ABSENT}`), before ?? '', { mode: 0o600 });
      await Promise.all(names.slice(0, Math.max(0, names.length + 1 - KEPT_PER_FILE)).map((name) => rm(join(folderOf(path), name))));
    },
    async last(path) {
      const name = (await states(path)).at(-1);
      if (name === undefined) return undefined;
      const file = join(folderOf(path), name);
      return { before: name.endsWith(ABSENT) ? undefined : await readFile(file), remove: () => rm(file, { force: true }) };
    },
  };
}
