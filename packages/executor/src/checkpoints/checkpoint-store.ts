import { hash as digest } from 'node:crypto';
import { rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseTree, treeText, type Tree } from './tree.ts';

export interface StoredCheckpoint {
  readonly number: number;
  /** The key of the effect before which it was made; of a restore it begins with `restore:`. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly root: string;
  readonly files: number;
}

export interface StoreBounds {
  readonly checkpoints: number;
  readonly bytes: number;
  readonly ageMs: number;
}

export function hashOf(content: Uint8Array): string {
  return digest('sha256', content, 'base64url');
}

const MIN_COMPRESSED_BYTES = 512;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * The checkpoints of one workspace in one SQLite file: contents by their hash, and checkpoints by number.
 * It owns the file and knows nothing of the workspace.
 *
 * 1. A checkpoint is listed only when all that it needs is stored: both are one transaction.
 * 2. A process that is killed leaves the file as after the last commit. A file that cannot be read is begun anew.
 */
export class CheckpointStore {
  readonly #db: DatabaseSync;
  readonly #has: StatementSync;
  readonly #put: StatementSync;
  readonly #get: StatementSync;
  #bytes: number;

  constructor(file: string) {
    this.#db = openDatabase(file);
    this.#has = this.#db.prepare('SELECT 1 FROM object WHERE hash = ?');
    this.#put = this.#db.prepare('INSERT INTO object (hash, is_compressed, content) VALUES (?, ?, ?)');
    this.#get = this.#db.prepare('SELECT is_compressed, content FROM object WHERE hash = ?');
    this.#bytes = this.#measure();
  }

  begin(): void {
    this.#db.exec('BEGIN');
  }

  commit(): void {
    this.#db.exec('COMMIT');
  }

  rollback(): void {
    if (!this.#db.isTransaction) return;
    this.#db.exec('ROLLBACK');
    this.#bytes = this.#measure();
  }

  /** Stores a content once; returns its hash. */
  put(content: Uint8Array): string {
    const hash = hashOf(content);
    if (this.#has.get(hash) !== undefined) return hash;
    const packed = content.length < MIN_COMPRESSED_BYTES ? content : zstdCompressSync(content, FAST);
    const isCompressed = packed.length < content.length;
    this.#put.run(hash, isCompressed ? 1 : 0, isCompressed ? packed : content);
    this.#bytes += isCompressed ? packed.length : content.length;
    return hash;
  }

  /** Throws where it is missing. */
  content(hash: string): Uint8Array {
    const row = this.#get.get(hash) as { readonly is_compressed: number; readonly content: Uint8Array } | undefined;
    if (!row) throw new Error('the checkpoint is damaged: a content of it is missing');
    return row.is_compressed ? zstdDecompressSync(row.content) : row.content;
  }

  putTree(tree: Tree): string {
    return this.put(Buffer.from(treeText(tree)));
  }

  tree(hash: string): Tree {
    return parseTree(Buffer.from(this.content(hash)).toString());
  }

  add({ key, at, root, files }: Omit<StoredCheckpoint, 'number'>): number {
    const statement = this.#db.prepare('INSERT INTO checkpoint (key, at, root, files) VALUES (?, ?, ?, ?)');
    return Number(statement.run(key, at, root, files).lastInsertRowid);
  }

  /** Oldest first. */
  list(): readonly StoredCheckpoint[] {
    return this.#db.prepare('SELECT number, key, at, root, files FROM checkpoint ORDER BY number').all() as unknown as StoredCheckpoint[];
  }

  last(): StoredCheckpoint | undefined {
    return this.#db.prepare('SELECT number, key, at, root, files FROM checkpoint ORDER BY number DESC LIMIT 1').get() as
      | StoredCheckpoint
      | undefined;
  }

  /** About what is stored. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Forgets the oldest checkpoints, but never the newest, until the rest is within the bounds. */
  prune({ checkpoints, bytes, ageMs }: StoreBounds, now: number): void {
    const all = this.list();
    // Some at a time: to forget one takes as long as to forget ten.
    const remaining = all.length > checkpoints ? checkpoints - Math.floor(checkpoints / 10) : checkpoints;
    const old = all.slice(0, -1).filter(({ at }, index) => index < all.length - remaining || at < now - ageMs);
    if (old.length > 0) this.#forget(old.at(-1)!.number);
    for (let left = this.list(); this.bytes > bytes && left.length > 1; left = this.list())
      this.#forget(left[Math.floor((left.length - 1) / 2)]!.number);
  }

  close(): void {
    this.#db.close();
  }

  #forget(number: number): void {
    this.begin();
    try {
      this.#db.prepare('DELETE FROM checkpoint WHERE number <= ?').run(number);
      this.#db.exec('CREATE TEMP TABLE IF NOT EXISTS live (hash TEXT PRIMARY KEY) WITHOUT ROWID; DELETE FROM live;');
      const mark = this.#db.prepare('INSERT OR IGNORE INTO live (hash) VALUES (?)');
      for (const { root } of this.list()) this.#markTree(root, mark);
      this.#db.exec('DELETE FROM object WHERE hash NOT IN (SELECT hash FROM live)');
      this.commit();
    } catch (error) {
      this.rollback();
      throw error;
    }
    this.#db.exec('PRAGMA incremental_vacuum');
    this.#bytes = this.#measure();
  }

  #measure(): number {
    const { bytes } = this.#db.prepare('SELECT coalesce(sum(length(content)), 0) AS bytes FROM object').get() as { readonly bytes: number };
    return bytes;
  }

  #markTree(root: string, mark: StatementSync): void {
    if (mark.run(root).changes === 0) return;
    for (const entry of this.tree(root).values()) {
      if (entry.kind === 'folder') this.#markTree(entry.hash, mark);
      else if (entry.kind === 'file') mark.run(entry.hash);
    }
  }
}

const PAGE_BYTES = 4096;
const LAYOUT = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA temp_store = MEMORY;
  CREATE TABLE IF NOT EXISTS object (hash TEXT PRIMARY KEY, is_compressed INTEGER NOT NULL, content BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS checkpoint (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, at INTEGER NOT NULL, root TEXT NOT NULL, files INTEGER NOT NULL);
`;

/** SQLITE_CORRUPT and SQLITE_NOTADB; everything else, such as a lock of another executor, is no reason to throw checkpoints away. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);
const LOCK_MS = 2000;

function openDatabase(file: string): DatabaseSync {
  try {
    return laidOut(file);
  } catch (error) {
    if (!DAMAGED.has((error as { readonly errcode?: number }).errcode ?? 0)) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    return laidOut(file);
  }
}

function laidOut(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: LOCK_MS });
  try {
    db.exec(LAYOUT);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
