import { contentTypeOf } from './content-type.ts';
import type { Disk } from './disk.ts';
import { guessEncodings } from './guess-encoding.ts';
import { NotText } from './not-text.ts';

/** A file as text, and the way back to exactly its bytes. */
export interface TextFile {
  readonly bytes: Buffer;
  /** Without the byte-order mark; line endings as they are. */
  readonly text: string;
  readonly encoding: string;
  /** Bytes of the byte-order mark. */
  readonly bom: Buffer;
  /** Undefined when the text cannot be written in this encoding. */
  encode(text: string): Buffer | undefined;
}

export const MAX_FILE_BYTES = 32 * 1024 * 1024;

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16LE_BOM = Buffer.from([0xff, 0xfe]);
const UTF16BE_BOM = Buffer.from([0xfe, 0xff]);

/** Reads a file of text. Throws `NotText` for binary or huge ones and for what is no file, and what the file system says. */
export async function readTextFile(disk: Disk, path: string): Promise<TextFile> {
  await using file = await disk.open(path);
  const { size } = await file.stat();
  if (size > MAX_FILE_BYTES) throw new NotText(`it has ${size} bytes; at most ${MAX_FILE_BYTES} can be opened here`);
  return await decodeText(await file.readFile()); // before the file is closed
}

export async function decodeText(bytes: Buffer): Promise<TextFile> {
  if (bytes.subarray(0, 3).equals(UTF8_BOM)) return utf8(bytes, UTF8_BOM) ?? other(bytes);
  if (bytes.subarray(0, 2).equals(UTF16LE_BOM)) return viaIconv(bytes, 'utf-16le', UTF16LE_BOM);
  if (bytes.subarray(0, 2).equals(UTF16BE_BOM)) return viaIconv(bytes, 'utf-16be', UTF16BE_BOM);
  const type = contentTypeOf(bytes);
  if (type || bytes.subarray(0, 8192).includes(0)) throw new NotText(`it is a binary file${type ? ` (${type.name})` : ''}`);
  return utf8(bytes, Buffer.alloc(0)) ?? other(bytes);
}

export function encodeUtf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

function utf8(bytes: Buffer, bom: Buffer): TextFile | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(bom.length));
    return { bytes, text, encoding: 'utf-8', bom, encode: (part) => (part.isWellFormed() ? encodeUtf8(part) : undefined) };
  } catch {
    return undefined;
  }
}

/** Not Unicode: the likeliest encoding that is reversible for this file, else Latin-1, which always is. */
async function other(bytes: Buffer): Promise<TextFile> {
  const { encodingExists } = (await import('iconv-lite')).default;
  for (const guess of await guessEncodings(bytes)) {
    if (!encodingExists(guess)) continue;
    const file = await viaIconv(bytes, guess, Buffer.alloc(0));
    if (file.encode(file.text)?.equals(bytes) === true) return file;
  }
  return viaIconv(bytes, 'latin1', Buffer.alloc(0));
}

async function viaIconv(bytes: Buffer, encoding: string, bom: Buffer): Promise<TextFile> {
  const { decode, encode } = (await import('iconv-lite')).default;
  const options = { stripBOM: false, addBOM: false };
  const text = decode(bytes.subarray(bom.length), encoding, options);
  const back = (part: string): Buffer | undefined => {
    const encoded = encode(part, encoding, options);
    return decode(encoded, encoding, options) === part ? encoded : undefined;
  };
  if (bom.length > 0 && !Buffer.concat([bom, back(text) ?? Buffer.alloc(0)]).equals(bytes)) throw new NotText(`its ${encoding} is damaged`);
  return { bytes, text, encoding, bom, encode: back };
}
