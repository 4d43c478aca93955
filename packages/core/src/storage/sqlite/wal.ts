/**
 * Owns the descriptor through which the WAL is made durable, and decides when it is moved into the database file.
 *
 * The connection runs with `synchronous=NORMAL` and no automatic checkpoint: SQLite then syncs on the event loop only when it begins the WAL anew,
 * and that write is made by the checkpoint's own thread (see checkpoint.ts). Opening and closing the `-wal` file here is harmless:
 * SQLite's locks are on the database and the `-shm` file. Never open those two (see `lockForProcess`).
 */
import { open, type FileHandle } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import type { DurableWal } from './group-commit.ts';

/**
 * Keeps opening after a crash, and the pause of a checkpoint, short.
 * @internal
 */
export const MAX_WAL_BYTES = 4 * 1024 * 1024;
/** A commit rewrites about this much beside what it adds: the pages that it touches. */
const COMMIT_OVERHEAD_BYTES = 3 * 4096;

export interface WalOptions {
  readonly path: string;
  /** How a file is made durable; tests put failing disks here. */
  readonly fdatasync?: (file: FileHandle) => Promise<void>;
  readonly onProblem: (sentence: string) => void;
}

export class Wal implements DurableWal {
  readonly #file: FileHandle;
  readonly #options: WalOptions;
  readonly #fdatasync: (file: FileHandle) => Promise<void>;
  #bytes: number;

  private constructor(file: FileHandle, options: WalOptions, bytes: number) {
    this.#file = file;
    this.#options = options;
    this.#fdatasync = options.fdatasync ?? ((handle) => handle.datasync());
    this.#bytes = bytes;
  }

  /** The database must be open and have a WAL. What a crashed process left in it is durable when this resolves. */
  static async open(options: WalOptions): Promise<Wal> {
    const file = await open(`${options.path}-wal`, 'r+');
    const wal = new Wal(file, options, (await file.stat()).size);
    try {
      await wal.sync();
    } catch (error) {
      await file.close();
      throw error;
    }
    return wal;
  }

  /** Notes what the running transaction adds, in bytes. */
  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  sync(): Promise<void> {
    this.#bytes += COMMIT_OVERHEAD_BYTES;
    return this.#fdatasync(this.#file);
  }

  async checkpointIfDue(): Promise<void> {
    if (this.#bytes < MAX_WAL_BYTES) return;
    // Whatever comes of it, the next try is a full WAL later: a disk that cannot do it is not asked at every commit.
    this.#bytes = 0;
    const problem = await checkpoint(this.#options.path);
    if (problem !== undefined) this.#options.onProblem(`the WAL of ${this.#options.path} was not checkpointed: ${problem}`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/**
 * Runs in a thread of its own: moving the WAL into the database file, with SQLite's own fsyncs, and then one small write, because the first
 * write after that begins the WAL anew and syncs its header. So neither happens on the event loop. As text, because a
 * bundle has no file that a worker could be started from.
 */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  let problem;
  try {
    const db = new DatabaseSync(workerData.path, { timeout: 5000 });
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
    const { busy } = db.prepare('PRAGMA wal_checkpoint(RESTART)').get();
    if (busy) problem = 'somebody was reading it';
    else db.exec('UPDATE writer SET turn = turn + 1');
    db.close();
  } catch (error) {
    problem = error.message;
  }
  parentPort.postMessage(problem);
`;

/** Checkpoints the database at `path`. Nobody may write meanwhile; reading goes on. Resolves with what went wrong, if anything; never rejects. */
function checkpoint(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { path },
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    let problem: string | undefined = 'the thread ended early';
    worker.once('message', (message: string | undefined) => (problem = message));
    worker.once('error', (error) => (problem = error.message));
    worker.once('exit', () => resolve(problem));
  });
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Checksummed in the byte order of little-endian machines. */
const LITTLE_ENDIAN_MAGIC = 0x377f0682;
/** A larger one is not looked through: opening must stay quick. */
const MAX_SCANNED_BYTES = 64 * 1024 * 1024;

/**
 * One sentence when the WAL of the database at `path` breaks off, else `undefined`; SQLite itself reads up to the first frame that does not
 * check out and is silent about the rest. To be called before SQLite opens the database.
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function describeTornWal(path: string): string | undefined {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > MAX_SCANNED_BYTES || endianness() !== 'LE') return undefined;
  const wal = readFileSync(`${path}-wal`);
  const header = readHeader(wal);
  if (!header)
    return `the write-ahead log of ${path} (${size} bytes) has a damaged header: what was written since the last checkpoint is lost`;
  const intact = intactFrames(wal, header);
  const frameBytes = FRAME_HEADER_BYTES + header.pageBytes;
  let torn = 0;
  for (let at = HEADER_BYTES + intact * frameBytes; at < size; at += frameBytes) if (belongsTo(wal, at, header)) torn += 1;
  if (torn === 0) return undefined;
  return `the write-ahead log of ${path} breaks off after ${intact} pages: ${torn} more were torn by a crash, before anybody saw them, or damaged later; what they held is lost`;
}

interface Header {
  readonly pageBytes: number;
  readonly salt: Buffer;
  readonly sum: Sum;
}

type Sum = readonly [number, number];

function readHeader(wal: Buffer): Header | undefined {
  if (wal.length < HEADER_BYTES || wal.readUInt32BE(0) !== LITTLE_ENDIAN_MAGIC) return undefined;
  const sum = checksum(wal, 0, 24, [0, 0]);
  if (sum[0] !== wal.readUInt32BE(24) || sum[1] !== wal.readUInt32BE(28)) return undefined;
  return { pageBytes: wal.readUInt32BE(8), salt: wal.subarray(16, 24), sum };
}

function intactFrames(wal: Buffer, { pageBytes, salt, sum: start }: Header): number {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let sum = start;
  let frames = 0;
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    if (!salt.equals(wal.subarray(at + 8, at + 16))) break;
    sum = checksum(wal, at + FRAME_HEADER_BYTES, at + frameBytes, checksum(wal, at, at + 8, sum));
    if (sum[0] !== wal.readUInt32BE(at + 16) || sum[1] !== wal.readUInt32BE(at + 20)) break;
    frames += 1;
  }
  return frames;
}

/** A frame of this generation of the WAL, whole or not. Those of older generations, which lie behind it, differ in both halves of the salt. */
function belongsTo(wal: Buffer, at: number, { salt }: Header): boolean {
  const present = wal.subarray(at + 8, at + 16);
  return [0, 4].some(
    (half) => half <= present.length && present.subarray(half, half + 4).equals(salt.subarray(half, Math.min(half + 4, present.length))),
  );
}

function checksum(bytes: Buffer, from: number, to: number, [first, second]: Sum): Sum {
  let a = first;
  let b = second;
  for (let at = from; at < to; at += 8) {
    a = (a + bytes.readUInt32LE(at) + b) >>> 0;
    b = (b + bytes.readUInt32LE(at + 4) + a) >>> 0;
  }
  return [a, b];
}
