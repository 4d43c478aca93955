import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { temporaryName } from '../files/temporary-name.ts';
import { toBytes, toSystem, toText } from './byte-path.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { isSame, type Tree, type TreeEntry } from './tree.ts';

export interface RestoreParts {
  readonly workspace: string;
  readonly store: CheckpointStore;
  readonly breath: () => Promise<void> | undefined;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_WRONLY, O_CREAT, O_EXCL } = constants;
const MAX_NAMED = 20;
const EMPTY: Tree = new Map();

/**
 * Makes the workspace what `target` says, where `current` says what it is; without one it is empty. Only what differs is touched, and what no checkpoint stores
 * is in neither.
 *
 * 1. Every folder is opened below the one above it and never through a link, and changes are made below what is open: a folder that is
 *    replaced by a link meanwhile leads nowhere else.
 * 2. A file is replaced whole or not at all. Doing it again after a kill gives the same.
 */
export async function restoreWorkspace(
  roots: { readonly current: string | undefined; readonly target: string },
  parts: RestoreParts,
): Promise<Pick<WorkspaceRestore, 'changed' | 'left'>> {
  const restore = new WorkspaceRestore(parts);
  const descriptor = openFolder(toBytes(parts.workspace));
  try {
    await restore.folder({ at: `/proc/self/fd/${descriptor}`, path: '' }, roots.current, roots.target);
  } finally {
    closeSync(descriptor);
  }
  return { changed: restore.changed, left: restore.left };
}

/** An open folder: how it is reached now, and its path in the workspace. */
interface Folder {
  readonly at: string;
  readonly path: string;
}

class WorkspaceRestore {
  readonly #store: CheckpointStore;
  readonly #breath: RestoreParts['breath'];
  /** Some of the paths that could not be put right, as people read them. */
  readonly left: string[] = [];
  /** Files and links that were written, replaced or removed. */
  changed = 0;

  constructor({ store, breath }: RestoreParts) {
    this.#store = store;
    this.#breath = breath;
  }

  async folder(folder: Folder, current: string | undefined, target: string | undefined): Promise<void> {
    if (current === target) return;
    const now = current === undefined ? EMPTY : this.#store.tree(current);
    const wanted = target === undefined ? EMPTY : this.#store.tree(target);
    for (const [name, entry] of now) if (!wanted.has(name)) await this.#attempt(folder, name, () => this.#remove(folder, name, entry));
    for (const [name, entry] of wanted) {
      if (isSame(now.get(name), entry)) continue;
      await this.#attempt(folder, name, () => this.#put(folder, name, { now: now.get(name), wanted: entry }));
    }
  }

  async #attempt({ path }: Folder, name: string, work: () => Promise<void>): Promise<void> {
    const wait = this.#breath();
    if (wait) await wait;
    try {
      await work();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      this.#name(path, name);
    }
  }

  #name(path: string, name: string): void {
    if (this.left.length < MAX_NAMED) this.left.push(toText(`${path}${name}`));
  }

  async #remove(folder: Folder, name: string, entry: TreeEntry): Promise<void> {
    if (entry.kind === 'left') return this.#name(folder.path, name);
    if (entry.kind === 'folder') {
      await this.#inside(folder, name, (inside) => this.folder(inside, entry.hash, undefined));
      rmdirSync(toSystem(`${folder.at}/${name}`));
      return;
    }
    unlinkSync(toSystem(`${folder.at}/${name}`));
    this.changed += 1;
  }

  async #put(
    folder: Folder,
    name: string,
    { now, wanted }: { readonly now: TreeEntry | undefined; readonly wanted: TreeEntry },
  ): Promise<void> {
    if (wanted.kind === 'left') return now ? undefined : this.#name(folder.path, name);
    if (now?.kind === 'left' && !now.isUnreadable && isFile(`${folder.at}/${name}`)) return this.#name(folder.path, name);
    if (now?.kind === 'folder' && wanted.kind !== 'folder') await this.#remove(folder, name, now);
    if (wanted.kind !== 'folder') return this.#replace(folder, name, wanted);
    const at = toSystem(`${folder.at}/${name}`);
    if (now && now.kind !== 'folder' && now.kind !== 'left') await this.#remove(folder, name, now);
    if (lstatSync(at, { throwIfNoEntry: false }) === undefined) mkdirSync(at, 0o700);
    const before = now?.kind === 'folder' ? now.hash : undefined;
    await this.#inside(folder, name, (inside) => this.folder(inside, before, wanted.hash), wanted.mode);
  }

  /** `mode`: what the folder has when it is left; else what it had. */
  async #inside(folder: Folder, name: string, work: (inside: Folder) => Promise<void>, mode?: number): Promise<void> {
    const descriptor = openFolder(`${folder.at}/${name}`);
    try {
      const had = fstatSync(descriptor).mode & 0o1777;
      if ((had & 0o700) !== 0o700) fchmodSync(descriptor, had | 0o700);
      await work({ at: `/proc/self/fd/${descriptor}`, path: `${folder.path}${name}/` });
      const wanted = mode ?? had;
      if ((fstatSync(descriptor).mode & 0o1777) !== wanted) fchmodSync(descriptor, wanted);
    } finally {
      closeSync(descriptor);
    }
  }

  #replace({ at }: Folder, name: string, wanted: Exclude<TreeEntry, { kind: 'folder' | 'left' }>): Promise<void> {
    const temporary = `${at}/${temporaryName()}`;
    try {
      if (wanted.kind === 'link') symlinkSync(toSystem(wanted.target), temporary);
      else writeFile(temporary, this.#store.content(wanted.hash), wanted.mode);
      renameSync(temporary, toSystem(`${at}/${name}`));
    } catch (error) {
      rmQuietly(temporary);
      throw error;
    }
    this.changed += 1;
    return Promise.resolve();
  }
}

/** What is there and stored nowhere is too large: it would be lost. */
function isFile(path: string): boolean {
  return lstatSync(toSystem(path), { throwIfNoEntry: false })?.isFile() ?? false;
}

function openFolder(path: string): number {
  return openSync(toSystem(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

function writeFile(path: string, content: Uint8Array, mode: number): void {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let written = 0; written < content.length;) written += writeSync(descriptor, content, written);
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

function rmQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
