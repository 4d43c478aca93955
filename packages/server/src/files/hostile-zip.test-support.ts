/** Zips as no tool makes them: every field of an entry can claim what it likes. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface HostileEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  /** What the directory says instead of the truth. */
  readonly claims?: Partial<Readonly<Record<'flags' | 'method' | 'crc' | 'packedBytes' | 'bytes' | 'mode' | 'start', number>>>;
  /** The name beside the bytes; default: that of the directory. */
  readonly localName?: string;
}

export function hostileZip(entries: readonly HostileEntry[], end: { readonly count?: number; readonly comment?: string } = {}): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  let at = 0;
  for (const { name, content = '', claims = {}, localName = name } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const header = {
      flags: 0,
      method: 8,
      crc: crc32(bytes),
      packedBytes: packed.length,
      bytes: bytes.length,
      mode: 0o100644,
      start: at,
      ...claims,
    };
    const fixed = fields([2, header.flags], [2, header.method], [4, 0], [4, header.crc], [4, header.packedBytes], [4, header.bytes]);
    const local = Buffer.concat([
      fields([4, 0x04034b50], [2, 20]),
      fixed,
      fields([2, Buffer.byteLength(localName)], [2, 0]),
      Buffer.from(localName),
      packed,
    ]);
    const lengths = fields([2, Buffer.byteLength(name)], [2, 0], [2, 0], [2, 0], [2, 0], [4, (header.mode << 16) >>> 0], [4, header.start]);
    records.push(fields([4, 0x02014b50], [2, 0x0314], [2, 20]), fixed, lengths, Buffer.from(name));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(records);
  const { count = entries.length, comment = '' } = end;
  const last = fields([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, directory.length], [4, at], [2, comment.length]);
  return Buffer.concat([...locals, directory, last, Buffer.from(comment)]);
}

function fields(...parts: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    parts.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}
