/** A text as FTS5's tokenizer `trigram` takes it: by three code points. */
const FEWEST = 3;

/** Whether the index can find where a text may be: shorter ones have no trigram, and a NUL would end them. */
export function fitsTrigrams(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed() && Array.from(text).length >= FEWEST;
}

/** As one phrase of an FTS5 query. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** An FTS5 query for what holds trigrams of the text, at most so many of them, spread over it. Every text that holds it fits. */
export function someTrigramsOf(text: string, most: number): string {
  const points = Array.from(text);
  const count = points.length - FEWEST + 1;
  const step = Math.max(1, count / most);
  const chosen = new Set<string>();
  for (let at = 0; at < count; at += step) chosen.add(points.slice(Math.floor(at), Math.floor(at) + FEWEST).join(''));
  return [...chosen].map(quoted).join(' ');
}
