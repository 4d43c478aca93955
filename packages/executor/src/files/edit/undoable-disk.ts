import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Disk, type DiskOptions } from '../disk.ts';
import { EditFailure } from '../failures.ts';

/** A disk that can take back its changes. What is changed through `replace` alone is not remembered. */
export class UndoableDisk extends Disk {
  readonly #history: UndoHistory;

  constructor(options: DiskOptions, history: UndoHistory) {
    super(options);
    this.#history = history;
  }

  /** `before` is what the file holds now; undefined where there is none. */
  async change(path: string, bytes: Uint8Array, before: Uint8Array | undefined): Promise<void> {
    const forget = await this.#history.push(path, { before, after: bytes });
    try {
      await this.replace(path, bytes);
    } catch (error) {
      await forget();
      throw error;
    }
  }

  /** Removes the file; `before` is what it holds now. */
  async takeAway(path: string, before: Uint8Array): Promise<void> {
    const forget = await this.#history.push(path, { before, after: new Uint8Array() });
    try {
      await this.remove(path);
    } catch (error) {
      await forget();
      throw error;
    }
  }

  /**
   * Puts back what was before the newest remembered change, if there is one: its bytes, or null where there was no file. Throws
   * where something else has changed the file since, for that would be lost.
   */
  async undo(path: string, current: Uint8Array | undefined): Promise<Buffer | null | undefined> {
    for (let last = await this.#history.last(path); last; last = await this.#history.last(path)) {
      // Remembered just before a crash, and never carried out.
      const isNow = last.before === undefined ? current === undefined : current !== undefined && last.before.equals(current);
      if (!isNow && current && !last.isAfter(current)) throw new EditFailure(changedSince(path));
      if (!isNow && last.before) await this.replace(path, last.before);
      else if (!isNow) await this.remove(path);
      await last.remove();
      if (!isNow) return last.before ?? null;
    }
    return undefined;
  }
}

function changedSince(path: string): string {
  return `Something else has changed ${path} since its last edit here, and undo_edit would take that back too. Nothing was undone: view the file and edit it as it is now.`;
}

/** What files were before their last edits, stored on disk: it survives the executor and its sandbox. */
export interface UndoHistory {
  /** `before` is undefined for a file that did not exist. Call the result when the edit failed. */
  push(path: string, change: { readonly before: Uint8Array | undefined; readonly after: Uint8Array }): Promise<() => Promise<void>>;
  /** The newest state; `remove` it once it is restored. */
  last(path: string): Promise<UndoState | undefined>;
}

export interface UndoState {
  readonly before: Buffer | undefined;
  /** Whether the edit left this. */
  isAfter(bytes: Uint8Array): boolean;
  remove(): Promise<void>;
}

const MAX_STATES_PER_FILE = 10;
const MAX_FILES = 500;
const MAX_BYTES = 256 * 1024 * 1024;
const ABSENT = 'absent';
/** Number, hash of what the edit left, kind. */
const STATE = /^\d+\.(\w{32})\.(?:bytes|absent)$/;

/** One folder a file, named by the hash of its path; in it one file a state. The files edited longest ago are forgotten. */
export function createUndoHistory(folder: string): UndoHistory {
  const folderOf = (path: string): string => join(folder, hashOf(path));
  const states = async (path: string): Promise<string[]> =>
    (await readdir(folderOf(path)).catch(() => []))
      .filter((name) => STATE.test(name))
      .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const forgotten = forgetOldest(folder).catch(() => {}); // what cannot be forgotten now can be at the next start

  return {
    async push(path, { before, after }) {
      await forgotten;
      const names = await states(path);
      const next = names.length === 0 ? 0 : Number.parseInt(names.at(-1)!, 10) + 1;
      await mkdir(folderOf(path), { recursive: true, mode: 0o700 });
      const file = join(folderOf(path), `${next}.${hashOf(after)}.${before ? 'bytes' : ABSENT}`);
      await writeFile(file, before ?? '', { mode: 0o600 });
      const old = names.slice(0, Math.max(0, names.length + 1 - MAX_STATES_PER_FILE));
      await Promise.all(old.map((name) => rm(join(folderOf(path), name), { force: true })));
      return () => rm(file, { force: true });
    },
    async last(path) {
      const name = (await states(path)).at(-1);
      if (name === undefined) return undefined;
      const file = join(folderOf(path), name);
      return {
        before: name.endsWith(ABSENT) ? undefined : await readFile(file),
        isAfter: (bytes) => STATE.exec(name)?.[1] === hashOf(bytes),
        remove: () => rm(file, { force: true }),
      };
    },
  };
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

async function forgetOldest(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const known = await Promise.all(
    names.map(async (name) => ({
      path: join(folder, name),
      at: (await stat(join(folder, name))).mtimeMs,
      bytes: await sizeOf(join(folder, name)),
    })),
  );
  let bytes = 0;
  for (const [index, file] of known.toSorted((a, b) => b.at - a.at).entries()) {
    bytes += file.bytes;
    if (index >= MAX_FILES || bytes > MAX_BYTES) await rm(file.path, { recursive: true, force: true });
  }
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
