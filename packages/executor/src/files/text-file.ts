import { contentTypeOf } from './content-type.ts';
import type { Disk } from './disk.ts';
import { NotText, EditFailure } from './failures.ts';
import type { Match } from './edit/find-text.ts';

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

/** Encodings of European letters: now and then one of them stands in a word of ASCII. */
const LATIN = ['WINDOWS-1252', 'ISO-8859-1', 'ISO-8859-15', 'WINDOWS-1250', 'ISO-8859-2', 'WINDOWS-1254', 'ISO-8859-9', 'WINDOWS-1257'];
const OTHERS = [
  ...['CP932', 'SHIFT_JIS', 'EUC-JP', 'GB18030', 'GB2312', 'BIG5', 'EUC-KR', 'CP949', 'TIS-620'],
  ...['WINDOWS-1251', 'KOI8-R', 'KOI8-U', 'ISO-8859-5', 'WINDOWS-1253', 'ISO-8859-7', 'WINDOWS-1255', 'WINDOWS-1256'],
];
const USUAL = 'WINDOWS-1252';
/** So much surer must the detector be of another one. */
const CLEARLY = 1.2;
const HEAD_BYTES = 65_536;
/** Bytes over 127 in a row, on average, from which a text is not ASCII with some letters in between. */
const LONG_RUN = 1.5;

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

/**
 * Encodings, the likeliest first, of a text that is not Unicode. The detector knows many that nobody writes files in and prefers
 * them for short texts, so only common ones count, and of those only such as fit how often bytes over 127 follow each other.
 */
async function guessEncodings(bytes: Buffer): Promise<readonly string[]> {
  const head = bytes.subarray(0, HEAD_BYTES);
  const { detectAll } = await import('jschardet');
  const known = detectAll(head).map(({ encoding, confidence }) => ({
    name: encoding?.toUpperCase().replace(/^ISO8859/, 'ISO-8859') ?? '',
    confidence: confidence ?? 0,
  }));
  if (!isMostlyAscii(head)) return named(known, [...OTHERS, ...LATIN]);
  const usual = known.find(({ name }) => name === USUAL)?.confidence ?? 0;
  const better = known.filter(({ confidence }) => confidence > usual * CLEARLY);
  return [...named(better, LATIN), USUAL];
}

function named(known: readonly { readonly name: string }[], wanted: readonly string[]): readonly string[] {
  return known.map(({ name }) => name).filter((name) => wanted.includes(name));
}

function isMostlyAscii(bytes: Buffer): boolean {
  let high = 0;
  let runs = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at]! < 128) continue;
    high += 1;
    if (at === 0 || bytes[at - 1]! < 128) runs += 1;
  }
  return high < runs * LONG_RUN;
}

/**
 * The file's bytes with one range of its text replaced. Bytes outside the range are those of the file, never re-encoded.
 * Throws `EditFailure` when the new text cannot be written in the file's encoding.
 */
export function splice(file: TextFile, range: Match, replacement: string): Buffer {
  const inserted = file.encode(replacement);
  const before = file.encode(file.text.slice(0, range.start));
  const old = file.encode(file.text.slice(range.start, range.end));
  if (!inserted)
    throw new EditFailure(`No replacement was performed. The new text cannot be written in the file's encoding, ${file.encoding}.`);
  if (!before || !old) throw new EditFailure(`No replacement was performed. The file's encoding, ${file.encoding}, is not reversible.`);
  const start = file.bom.length + before.length;
  return Buffer.concat([file.bytes.subarray(0, start), inserted, file.bytes.subarray(start + old.length)]);
}
