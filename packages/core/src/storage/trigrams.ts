/** The pieces of a text that an index looks it up by: three code points each, as the tokenizer `trigram` of SQLite's FTS5 takes them. */
const LENGTH = 3;

/** Whether an index can find where a text may be: shorter ones have no trigram, and a NUL would end them. */
export function fitsTrigrams(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed() && Array.from(text).length >= LENGTH;
}

/** Trigrams of the text, at most so many of them, spread over it. Every text that holds it holds them. */
export function someTrigramsOf(text: string, most: number): readonly string[] {
  const points = Array.from(text);
  const count = points.length - LENGTH + 1;
  const step = Math.max(1, count / most);
  const chosen = new Set<string>();
  for (let at = 0; at < count; at += step) chosen.add(points.slice(Math.floor(at), Math.floor(at) + LENGTH).join(''));
  return [...chosen];
}
