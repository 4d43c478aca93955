/** One line of a zip's directory, as it claims: nothing of it is checked against the file yet. */
export interface ZipRecord {
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

export interface ZipDirectory {
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
export function zipDirectory(zip: Buffer): ZipDirectory {
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
