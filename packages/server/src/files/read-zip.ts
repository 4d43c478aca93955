import { crc32, inflateRawSync } from 'node:zlib';
import { uploadNameFault } from './upload-name.ts';

export interface ZipEntry {
  /** Relative, with `/`; folders end in it. */
  readonly name: string;
  /** Throws an Error that can be shown when the entry is damaged. */
  read(): Buffer;
}

const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_ENTRIES = 20_000;
const MAX_TOTAL_BYTES = 1024 ** 3;
/** One entry is unpacked in memory. */
const MAX_ENTRY_BYTES = 128 * 1024 ** 2;
const ENCRYPTED = 1;
const LINK = 0o120000;

/**
 * What a zip holds, from untrusted bytes: links are left out. Throws an Error that can be shown when it is no zip, is encrypted, of
 * the kind above 4 GB, would unpack to more than a gigabyte or holds one file of more than 128 MiB, or names what lies outside of the folder it is unpacked into.
 */
export function readZip(zip: Buffer): readonly ZipEntry[] {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw new Error(`the zip has more than ${MAX_ENTRIES} entries`);
  const entries: ZipEntry[] = [];
  let at = zip.readUInt32LE(end + 16);
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== ENTRY) throw new Error('the zip is damaged');
    const lengths = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number];
    const next = at + ENTRY_BYTES + lengths[0] + lengths[1] + lengths[2];
    if (next > zip.length) throw new Error('the zip is damaged');
    const name = zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + lengths[0]);
    const size = zip.readUInt32LE(at + 24);
    if (size > MAX_ENTRY_BYTES) throw new Error(`the zip holds a file of more than ${MAX_ENTRY_BYTES} bytes`);
    total += size;
    if (total > MAX_TOTAL_BYTES) throw new Error(`the zip holds more than ${MAX_TOTAL_BYTES} bytes`);
    const fault = uploadNameFault(name.replace(/\/$/, ''));
    if (fault !== undefined) throw new Error(`the zip holds ${JSON.stringify(name.slice(0, 100))}: ${fault}`);
    if ((zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0) throw new Error('the zip is encrypted');
    const header = at;
    if (((zip.readUInt32LE(at + 38) >>> 16) & 0o170000) !== LINK) entries.push({ name, read: () => contentOf(zip, header, name) });
    at = next;
  }
  return entries;
}

function findEnd(zip: Buffer): number {
  for (let at = zip.length - END_BYTES; at >= Math.max(0, zip.length - END_BYTES - MAX_COMMENT); at -= 1) {
    if (zip.readUInt32LE(at) === END) return at;
  }
  throw new Error('it is not a zip file');
}

function contentOf(zip: Buffer, header: number, name: string): Buffer {
  const method = zip.readUInt16LE(header + 10);
  const [crc, packed, bytes] = [16, 20, 24].map((offset) => zip.readUInt32LE(header + offset)) as [number, number, number];
  const local = zip.readUInt32LE(header + 42);
  const damaged = (): Error => new Error(`${name} is damaged in the zip`);
  if (local + LOCAL_BYTES > zip.length) throw damaged();
  const start = local + LOCAL_BYTES + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const data = zip.subarray(start, start + packed);
  if (method !== 0 && method !== 8) throw new Error(`${name} is packed in a way that is not known (${method})`);
  try {
    // One byte more than announced may come out, to be found out.
    const content = method === 0 ? data : inflateRawSync(data, { maxOutputLength: bytes + 1 });
    if (content.length === bytes && crc32(content) === crc) return content;
  } catch {
    // told below
  }
  throw damaged();
}
