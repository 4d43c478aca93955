/** Up to the first full stop, or the first line. */
export function firstSentence(text: string): string {
  return /^[^\n]*?[.!?](?=\s|$)/.exec(text.trim())?.[0] ?? text.trim().split('\n', 1)[0]!;
}
