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

/**
 * Encodings, the likeliest first, of a text that is not Unicode. The detector knows many that nobody writes files in and prefers
 * them for short texts, so only common ones count, and of those only such as fit how often bytes over 127 follow each other.
 */
export async function guessEncodings(bytes: Buffer): Promise<readonly string[]> {
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
