/** Where the first character of UTF-8 begins in bytes that were cut anywhere. */
export function characterStart(bytes: Buffer): number {
  let at = 0;
  while (at < Math.min(3, bytes.length) && (bytes[at]! & 0xc0) === 0x80) at += 1;
  return at;
}
