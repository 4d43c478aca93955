import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { isTemporary } from '../files/temporary-name.ts';
import { createBreath } from './breath.ts';
import { toBytes, toSystem, toText } from './byte-path.ts';
import { hashOf, type CheckpointStore } from './checkpoint-store.ts';
import { CACHE_TAG, isRemade, isSecretName } from './left-out.ts';
import { isSame, type Tree, type TreeEntry } from './tree.ts';

export interface ScanBounds {
  readonly files: number;
  readonly fileBytes: number;
  /** Of the whole store, while it takes this scan in. */
  readonly storeBytes: number;
}

export interface ScanPlace {
  readonly workspace: string;
  /** Absolute paths that are somebody else's: what is read-only in the workspace, and the executor's own files. */
  readonly excluded: readonly string[];
}

interface ScanOptions {
  readonly signal: AbortSignal;
  /** Folders that their owner has closed to itself are opened, for a restore that is to put them right. */
  readonly unlocks?: boolean;
  /** Only to compare: any number of files, whose contents are not stored. The caller must `forget` afterwards. */
  readonly isUnbounded?: boolean;
}

export interface Scanned {
  readonly root: string;
  readonly files: number;
  /** Some of the files whose content is not stored, as people read them. */
  readonly leftOut: readonly string[];
}

/** The workspace is beyond what is stored; the message says in what. */
export class BeyondBounds extends Error {
  override name = 'BeyondBounds';
}

/** What was there at the last scan, and the numbers by which the system says that it is still the same. */
interface KnownEntry {
  readonly entry: TreeEntry;
  readonly size: number;
  readonly inode: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  /** It was read so soon after a change that another one could bear the same time. */
  readonly isFresh: boolean;
}

interface KnownFolder {
  /** Of the folder itself, from before its names were read. */
  readonly stamp: FolderStamp;
  readonly entries: ReadonlyMap<string, KnownEntry>;
  readonly folders: ReadonlyMap<string, KnownFolder>;
  /** Names in it that are no part of a checkpoint. */
  readonly leftOut: readonly string[];
  /** The paths of its entries need no translation for the system. */
  readonly isPlain: boolean;
  readonly hash: string;
}

type FolderStamp = Omit<KnownEntry, 'entry' | 'size'>;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, S_IFMT, S_IFREG, S_IFDIR, S_IFLNK } = constants;
const MODE = 0o1777;
/** Of the coarsest clock by which a file system dates a change. */
const CLOCK_MS = 50;
const MAX_NAMED = 20;
const PIECE = 1024 * 1024;

/**
 * Stores what is in the workspace. It owns what it knows from the last scan: a file whose numbers are the same is not read again, and
 * neither are the names of such a folder.
 *
 * 1. Nothing of the workspace is changed, but for `unlocks`.
 * 2. No link is followed: a content is taken only from a file that the system names below the workspace.
 */
export class WorkspaceScan {
  readonly #store: CheckpointStore;
  readonly #bounds: ScanBounds;
  readonly #workspace: string;
  readonly #excluded: ReadonlySet<string>;
  #known: KnownFolder | undefined;
  #files = 0;
  #leftOut: string[] = [];
  #temporary: string[] = [];
  #isUnbounded = false;

  constructor(store: CheckpointStore, bounds: ScanBounds, { workspace, excluded }: ScanPlace) {
    this.#store = store;
    this.#bounds = bounds;
    this.#workspace = toBytes(realpathSync(workspace));
    this.#excluded = new Set(excluded.map(toBytes));
  }

  /** Rejects with `BeyondBounds`, and with the reason of `signal`. Must be called within a transaction of the store. */
  async scan({ signal, unlocks = false, isUnbounded = false }: ScanOptions): Promise<Scanned> {
    this.#isUnbounded = isUnbounded;
    this.#files = 0;
    this.#leftOut = [];
    this.#temporary = [];
    const breath = createBreath(signal);
    const top = await this.#folder(this.#workspace, this.#known, { breath, unlocks, stats: look(this.#workspace) });
    if (top === undefined) throw new Error('the workspace cannot be read');
    this.#known = top;
    return { root: top.hash, files: this.#files, leftOut: this.#leftOut };
  }

  /** Removes what a killed restore had begun to write, as far as the last scan has seen it. */
  removeTemporary(): void {
    for (const path of this.#temporary) rmSync(toSystem(path), { force: true });
  }

  /** What was stored is no longer: a transaction was taken back. */
  forget(): void {
    this.#known = undefined;
  }

  /** Nothing where it cannot be read. */
  async #folder(path: string, before: KnownFolder | undefined, options: FolderOptions): Promise<KnownFolder | undefined> {
    const wait = options.breath();
    if (wait) await wait;
    const { stats: own = 'left' } = options;
    if (before && isUntouched(before.stamp, own)) return this.#settled(path, before, options);
    const stamp = stampOf(own);
    const names = namesIn(path);
    if (names === undefined || (path !== this.#workspace && names.includes(CACHE_TAG))) return undefined;
    const entries = new Map<string, KnownEntry>();
    const folders = new Map<string, KnownFolder>();
    const leftOut: string[] = [];
    let isChanged = before === undefined;
    for (const name of names) {
      const at = `${path}/${name}`;
      const last = before?.entries.get(name);
      if (!last && this.#isLeftOut(name, at)) {
        leftOut.push(name);
        continue;
      }
      const stats = look(at);
      if (!stats) continue;
      const { now, inside } = await this.#entry(at, stats, { ...options, last, folder: before?.folders.get(name) });
      if (inside) folders.set(name, inside);
      entries.set(name, now);
      isChanged ||= now !== last && !isSame(now.entry, last?.entry);
    }
    isChanged ||= entries.size !== before?.entries.size;
    const isPlain = typeof toSystem(path + names.join('')) === 'string';
    return { stamp, entries, folders, leftOut, isPlain, hash: isChanged ? this.#store.putTree(treeOf(entries)) : before!.hash };
  }

  /** A folder in which no name has come or gone: itself where nothing in it has changed, so that a look at it makes nothing new. */
  async #settled(path: string, before: KnownFolder, options: FolderOptions): Promise<KnownFolder> {
    for (const name of before.leftOut) this.#isLeftOut(name, `${path}/${name}`);
    let entries: Map<string, KnownEntry> | undefined;
    let folders: Map<string, KnownFolder> | undefined;
    let isChanged = false;
    for (const [name, last] of before.entries) {
      const at = `${path}/${name}`;
      const stats = look(at, before.isPlain);
      const folder = before.folders.get(name);
      // A folder that is not stored is looked into each time: why it is not need not show in its times, and a restore is to open it.
      if (stats && !isFolder(stats) && isUnchanged(last, stats)) {
        this.#count(at, last.entry);
        continue;
      }
      const { now, inside } = stats ? await this.#entry(at, stats, { ...options, last, folder }) : NOTHING;
      if (now === last && inside === folder) continue;
      entries ??= new Map(before.entries);
      folders ??= new Map(before.folders);
      isChanged ||= !isSame(now?.entry, last.entry);
      if (now) entries.set(name, now);
      else entries.delete(name);
      if (inside) folders.set(name, inside);
      else folders.delete(name);
    }
    if (!entries || !folders) return before;
    return { ...before, entries, folders, hash: isChanged ? this.#store.putTree(treeOf(entries)) : before.hash };
  }

  /** What is at `at`: `last` itself where it is still the same. */
  async #entry(at: string, stats: Stats | 'left', { last, folder, ...options }: EntryOptions): Promise<FoundEntry> {
    if (isFolder(stats)) {
      if (options.unlocks && !isOpen(stats)) unlock(at);
      const inside = await this.#folder(at, folder, { ...options, stats });
      const entry = folderEntry(stats, inside);
      return { now: last && isSame(entry, last.entry) ? last : known(entry, stats, false), inside };
    }
    const now = last && isUnchanged(last, stats) ? last : this.#leaf(at, stats);
    this.#count(at, now.entry);
    const pause = now === last ? undefined : options.breath();
    if (pause) await pause;
    return { now };
  }

  #isLeftOut(name: string, path: string): boolean {
    if (isTemporary(name)) this.#temporary.push(path);
    if (isRemade(name) || isTemporary(name) || this.#excluded.has(path)) return true;
    if (!isSecretName(name)) return false;
    this.#name(path);
    return true;
  }

  #count(path: string, { kind }: TreeEntry): void {
    this.#files += 1;
    if (!this.#isUnbounded && this.#files > this.#bounds.files) throw new BeyondBounds(`it holds more than ${this.#bounds.files} files`);
    if (kind === 'left') this.#name(path);
  }

  #name(path: string): void {
    if (this.#leftOut.length < MAX_NAMED) this.#leftOut.push(toText(path.slice(this.#workspace.length + 1)));
  }

  #leaf(path: string, stats: Stats | 'left'): KnownEntry {
    if (stats === 'left') return UNREADABLE;
    const readAt = Date.now();
    const isFresh = stats.ctimeMs > readAt - CLOCK_MS;
    const type = stats.mode & S_IFMT;
    try {
      if (type === S_IFLNK) return known({ kind: 'link', target: readlinkSync(toSystem(path), 'latin1') }, stats, isFresh);
      if (type === S_IFREG && stats.size <= this.#bounds.fileBytes) {
        const content = this.#read(path);
        const hash = this.#isUnbounded ? hashOf(content) : this.#store.put(content);
        if (!this.#isUnbounded && this.#store.bytes > this.#bounds.storeBytes)
          throw new BeyondBounds('it holds more than is stored for one conversation');
        return known({ kind: 'file', mode: stats.mode & MODE, hash }, stats, isFresh);
      }
    } catch (error) {
      if (error instanceof BeyondBounds || (error as { readonly code?: string }).code === 'ERR_SQLITE_ERROR') throw error;
      return known({ kind: 'left', isUnreadable: true }, stats, true);
    }
    return known({ kind: 'left', isUnreadable: false }, stats, isFresh);
  }

  /** Throws where it is no longer a regular file below the workspace, or larger than is stored. */
  #read(path: string): Uint8Array {
    const descriptor = openSync(toSystem(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { mode, size } = fstatSync(descriptor);
      // A folder above it may have been replaced by a link since it was listed.
      const real = readlinkSync(`/proc/self/fd/${descriptor}`, 'latin1');
      if ((mode & S_IFMT) !== S_IFREG || real !== path) throw new Error('it is another file by now');
      return readWhole(descriptor, Math.min(size, this.#bounds.fileBytes));
    } finally {
      closeSync(descriptor);
    }
  }
}

interface FolderOptions {
  readonly breath: () => Promise<void> | undefined;
  readonly unlocks: boolean;
  /** Of the folder, from before it is read. */
  readonly stats: Stats | 'left' | undefined;
}

interface EntryOptions extends FolderOptions {
  readonly last: KnownEntry | undefined;
  readonly folder: KnownFolder | undefined;
}

interface FoundEntry {
  readonly now: KnownEntry;
  /** Where it is a folder that can be read. */
  readonly inside?: KnownFolder | undefined;
}

const NOTHING = { now: undefined, inside: undefined };

function treeOf(entries: ReadonlyMap<string, KnownEntry>): Tree {
  return new Map([...entries].map(([name, { entry }]) => [name, entry]));
}

const UNREADABLE: KnownEntry = Object.freeze({
  entry: Object.freeze({ kind: 'left', isUnreadable: true }),
  ...{ size: 0, inode: 0, modifiedMs: 0, changedMs: 0, isFresh: true },
});

function isFolder(stats: Stats | 'left'): stats is Stats {
  return stats !== 'left' && (stats.mode & S_IFMT) === S_IFDIR;
}

function isOpen({ mode }: Stats): boolean {
  return (mode & 0o500) === 0o500;
}

function folderEntry(stats: Stats, inside: KnownFolder | undefined): TreeEntry {
  return inside ? { kind: 'folder', mode: stats.mode & MODE, hash: inside.hash } : { kind: 'left', isUnreadable: !isOpen(stats) };
}

function known(entry: TreeEntry, { size, ino, mtimeMs, ctimeMs }: Stats, isFresh: boolean): KnownEntry {
  return { entry, size, inode: ino, modifiedMs: mtimeMs, changedMs: ctimeMs, isFresh };
}

function stampOf(stats: Stats | 'left'): FolderStamp {
  if (stats === 'left') return UNREADABLE;
  const { ino, mtimeMs, ctimeMs } = stats;
  return { inode: ino, modifiedMs: mtimeMs, changedMs: ctimeMs, isFresh: ctimeMs > Date.now() - CLOCK_MS };
}

/** A name that comes or goes changes both times of its folder, and no program can set the second one. */
function isUntouched(last: FolderStamp, stats: Stats | 'left'): boolean {
  if (stats === 'left') return false;
  return !last.isFresh && last.changedMs === stats.ctimeMs && last.modifiedMs === stats.mtimeMs && last.inode === stats.ino;
}

/** The time of the last change (of content, mode or name) is the system's own: no program can set it. */
function isUnchanged(last: KnownEntry, stats: Stats | 'left'): boolean {
  if (stats === 'left') return false;
  const { size, ino, mtimeMs, ctimeMs } = stats;
  return !last.isFresh && last.changedMs === ctimeMs && last.modifiedMs === mtimeMs && last.size === size && last.inode === ino;
}

function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(toSystem(path), 'latin1');
  } catch {
    return undefined;
  }
}

const OR_NOTHING = { throwIfNoEntry: false } as const;

/** Nothing where there is nothing; `left` where it cannot be looked at. */
function look(path: string, isPlain = false): Stats | 'left' | undefined {
  try {
    return lstatSync(isPlain ? path : toSystem(path), OR_NOTHING);
  } catch {
    return 'left';
  }
}

function readWhole(descriptor: number, size: number): Uint8Array {
  const content = Buffer.allocUnsafe(size);
  let length = 0;
  for (let more = -1; more !== 0 && length < size; length += more)
    more = readSync(descriptor, content, length, Math.min(PIECE, size - length), null);
  return content.subarray(0, length);
}

const O_PATH = 0o10000000;

/** Lets the owner of a folder into it. It can be opened for nothing, so its mode is set through a descriptor that only names it. */
function unlock(path: string): void {
  try {
    const descriptor = openSync(toSystem(path), O_PATH | O_NOFOLLOW | constants.O_DIRECTORY);
    try {
      const name = `/proc/self/fd/${descriptor}`;
      if (readlinkSync(name, 'latin1') === path) chmodSync(name, (fstatSync(descriptor).mode & MODE) | 0o700);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // It is somebody else's, and stays closed.
  }
}
