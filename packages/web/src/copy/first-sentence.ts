import { cut } from './cut.ts';

/** Up to the first full stop, or the first line; at most 300 characters. */
export function firstSentence(text: string): string {
  const line = cut(text.trimStart().split('\n', 1)[0]!.trimEnd(), 300);
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
}
