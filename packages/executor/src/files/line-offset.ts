/** Where the text after its first `lines` lines begins; the end of the text when it has no more. */
export function lineOffset(text: string, lines: number): number {
  let offset = 0;
  for (let count = 0; count < lines; count += 1) {
    const end = text.indexOf('\n', offset);
    if (end < 0) return text.length;
    offset = end + 1;
  }
  return offset;
}
