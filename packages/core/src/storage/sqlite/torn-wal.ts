/**
 * SQLite reads a write-ahead log up to the first frame that does not check out and is silent about the rest. This says whether there was a rest.
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Checksummed in the byte order of little-endian machines. */
const LITTLE_ENDIAN_MAGIC = 0x377f0682;
/** A larger one is not looked through: opening must stay quick. */
const MAX_SCANNED_BYTES = 64 * 1024 * 1024;

/** One sentence when the WAL of the database at `path` breaks off, else `undefined`. To be called before SQLite opens the database. */
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
