import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { uploadNameFault } from './take-upload.ts';
import { posix } from 'node:path';
import { withDeadline } from '@tendon/protocol/async';
import type { Runtime } from '@tendon/core';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';

export interface ZipEntry {
  /** Relative, with `/`; folders end in it. */
  readonly name: string;
  /** Rejects with a user-facing error when the entry is damaged. */
  read(): Promise<Buffer>;
}

const inflate = promisify(inflateRaw);

const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const MAX_TOTAL_BYTES = 1024 ** 3;
/** All names and their folders are compared with each other. */
const MAX_NAMES_BYTES = 4 * 1024 ** 2;
const MAX_DEPTH = 64;
/** One entry is unpacked in memory. */
const MAX_ENTRY_BYTES = 128 * 1024 ** 2;

/**
 * What a zip holds, from untrusted bytes: links are left out. Throws a user-facing error when it is no zip, is encrypted, of
 * the kind above 4 GB, would unpack to more than a gigabyte or holds one file of more than 128 MiB, names what lies outside of the
 * folder it is unpacked into or one thing twice, or has entries that lie in each other, as bombs have.
 *
 * Not the library `yauzl`: sums, overlaps, repeated names and limits would be ours to check beside it all the same.
 */
export function readZip(zip: Buffer): readonly ZipEntry[] {
  const directory = zipDirectory(zip);
  checkSizes(directory.records);
  checkNames(directory.records);
  const packed = packedIn(zip, directory);
  return directory.records.flatMap((record, index) =>
    record.isLink ? [] : [{ name: record.name, read: () => unpacked(record, packed[index]!) }],
  );
}

function checkSizes(records: readonly ZipRecord[]): void {
  let total = 0;
  for (const { bytes } of records) {
    if (bytes > MAX_ENTRY_BYTES) throw new Error(`the zip holds a file of more than ${MAX_ENTRY_BYTES} bytes`);
    total += bytes;
    if (total > MAX_TOTAL_BYTES) throw new Error(`the zip holds more than ${MAX_TOTAL_BYTES} bytes`);
  }
}

/** What is listed twice, or is a file and a folder, would end half unpacked. */
function checkNames(records: readonly ZipRecord[]): void {
  const files = new Set<string>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { name, isEncrypted } of records) {
    const path = name.replace(/\/$/, '');
    bytes += name.length;
    if (bytes > MAX_NAMES_BYTES) throw new Error(`the zip holds more than ${MAX_NAMES_BYTES} bytes of names`);
    if (path.split('/', MAX_DEPTH + 1).length > MAX_DEPTH)
      throw new Error(`the zip holds ${quoted(name)}, more than ${MAX_DEPTH} folders deep`);
    const fault = uploadNameFault(path);
    if (fault !== undefined) throw new Error(`the zip holds ${quoted(name)}: ${fault}`);
    if (isEncrypted) throw new Error('the zip is encrypted');
    if (name.endsWith('/')) folders.add(path);
    else if (files.has(path)) throw new Error(`the zip holds ${quoted(name)} twice`);
    else files.add(path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) folders.add(path.slice(0, end));
  }
  for (const path of files) if (folders.has(path)) throw new Error(`the zip holds ${quoted(path)} as a file and as a folder`);
}

/** The packed bytes of each record, in its order; no byte belongs to two. */
function packedIn(zip: Buffer, { start: directory, records }: ZipDirectory): readonly Buffer[] {
  const packed = records.map((record) => {
    const { name, start, packedBytes } = record;
    if (start + LOCAL_BYTES > directory || zip.readUInt32LE(start) !== LOCAL) throw damaged(name);
    const nameEnd = start + LOCAL_BYTES + zip.readUInt16LE(start + 26);
    if (zip.toString('utf8', start + LOCAL_BYTES, nameEnd) !== name) throw damaged(name);
    const data = nameEnd + zip.readUInt16LE(start + 28);
    if (data + packedBytes > directory) throw damaged(name);
    return { start, end: data + packedBytes, bytes: zip.subarray(data, data + packedBytes) };
  });
  const inOrder = packed.toSorted((a, b) => a.start - b.start);
  for (const [index, { start }] of inOrder.entries()) {
    if (index > 0 && start < inOrder[index - 1]!.end) throw new Error('the zip is damaged: its entries lie in each other');
  }
  return packed.map(({ bytes }) => bytes);
}

async function unpacked({ name, method, bytes, crc }: ZipRecord, packed: Buffer): Promise<Buffer> {
  if (method !== STORED && method !== DEFLATED) throw new Error(`${quoted(name)} is packed in a way that is not known (${method})`);
  try {
    // One byte more than announced may come out, to be found out.
    const content = method === STORED ? packed : await inflate(packed, { maxOutputLength: bytes + 1 });
    if (content.length === bytes && crc32(content) === crc) return content;
  } catch {
    // listed below
  }
  throw damaged(name);
}

function damaged(name: string): Error {
  return new Error(`${quoted(name)} is damaged in the zip`);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** One line of a zip's directory, as it claims: nothing of it is checked against the file yet. */
interface ZipRecord {
  readonly name: string;
  readonly isLink: boolean;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Where the entry itself begins. */
  readonly start: number;
}

interface ZipDirectory {
  /** Where it begins: entries lie before. */
  readonly start: number;
  readonly records: readonly ZipRecord[];
}

const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
const RECORD = 0x02014b50;
const RECORD_BYTES = 46;
const MAX_ENTRIES = 20_000;
const ENCRYPTED = 1;
const LINK = 0o120000;

/** Reads the directory from untrusted bytes. Throws a user-facing error when it is no zip, of the kind above 4 GB, or damaged. */
function zipDirectory(zip: Buffer): ZipDirectory {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  const start = zip.readUInt32LE(end + 16);
  if (count === 0xffff || start === 0xffffffff) throw new Error('the zip is of the kind for more than 4 GB (zip64), which is not taken');
  if (count > MAX_ENTRIES) throw new Error(`the zip has more than ${MAX_ENTRIES} entries`);
  const records: ZipRecord[] = [];
  let at = start;
  for (let index = 0; index < count; index += 1) {
    if (at + RECORD_BYTES > end || zip.readUInt32LE(at) !== RECORD) throw new Error('the zip is damaged');
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number];
    const next = at + RECORD_BYTES + name + extra + comment;
    if (next > end) throw new Error('the zip is damaged');
    records.push(recordAt(zip, at, zip.toString('utf8', at + RECORD_BYTES, at + RECORD_BYTES + name)));
    at = next;
  }
  return { start, records };
}

function recordAt(zip: Buffer, at: number, name: string): ZipRecord {
  return {
    name,
    isLink: ((zip.readUInt32LE(at + 38) >>> 16) & 0o170000) === LINK,
    isEncrypted: (zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packedBytes: zip.readUInt32LE(at + 20),
    bytes: zip.readUInt32LE(at + 24),
    start: zip.readUInt32LE(at + 42),
  };
}

function findEnd(zip: Buffer): number {
  for (let at = zip.length - END_BYTES; at >= Math.max(0, zip.length - END_BYTES - MAX_COMMENT); at -= 1) {
    if (zip.readUInt32LE(at) === END) return at;
  }
  throw new Error('it is not a zip file');
}

const WRITE_MS = 60_000;
const FOLDERS_AT_ONCE = 100;

/** Puts what a zip holds into a folder of the sandbox. Nothing is written when any entry is not fit. Rejects with a user-facing error. */
export async function unzipInto(runtime: Runtime, folder: string, zip: Buffer, now: Date): Promise<void> {
  const entries = readZip(zip);
  // Unpacked twice, so that a last entry that is damaged does not leave the first ones behind.
  for (const { read } of entries) await read();
  const folders = entries.filter(({ name }) => name.endsWith('/')).map(({ name }) => posix.join(folder, name));
  for (let start = 0; start < folders.length; start += FOLDERS_AT_ONCE) {
    const words = folders.slice(start, start + FOLDERS_AT_ONCE).map(shellQuote);
    const made = await runSandboxCommand(runtime, `mkdir -p -- ${words.join(' ')}`, {
      ...{ cwd: runtime.workspace, timeoutSeconds: 20, maxBytes: 4096, now },
    });
    if (made.exitCode !== 0) throw new Error(`the folders could not be made: ${made.text.trim().slice(0, 300)}`);
  }
  for (const { name, read } of entries) {
    if (name.endsWith('/')) continue;
    const bytes = await read();
    await withDeadline(WRITE_MS, (signal) => runtime.files.write(posix.join(folder, name), bytes, { signal }));
  }
}
