export interface WordAt {
  readonly sign: '/' | '@';
  /** Where its sign stands. */
  readonly start: number;
  /** What follows the sign, up to the caret. */
  readonly typed: string;
}

/** The word with `/` (only at the start of the text) or `@` that the caret stands in. */
export function wordAt(text: string, caret: number): WordAt | undefined {
  const start = Math.max(text.lastIndexOf(' ', caret - 1), text.lastIndexOf('\n', caret - 1)) + 1;
  const sign = text[start];
  if (start >= caret || (sign !== '@' && !(sign === '/' && start === 0))) return undefined;
  return { sign, start, typed: text.slice(start + 1, caret) };
}
