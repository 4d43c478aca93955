/** A match: offsets in the raw text, end exclusive. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/**
 * Every place where `wanted` stands in `text`, without overlaps. If it stands nowhere as it is, line ends count as equal:
 * models write `\n` also for files that use `\r\n`.
 */
export function findText(text: string, wanted: string): Match[] {
  const exact = occurrences(text, wanted);
  if (exact.length > 0 || !(text.includes('\r\n') || wanted.includes('\r\n')))
    return exact.map((start) => ({ start, end: start + wanted.length }));
  const plain = wanted.replaceAll('\r\n', '\n');
  const { unix, rawOffset } = withoutCarriageReturns(text);
  return occurrences(unix, plain).map((start) => ({ start: rawOffset(start), end: rawOffset(start + plain.length) }));
}

function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  if (wanted === '') return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

/** The text with `\n` line ends, and the way from its offsets to those of the raw text. */
function withoutCarriageReturns(text: string): { unix: string; rawOffset: (offset: number) => number } {
  const removed: number[] = []; // offsets in `unix` before which one more character was taken out
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) removed.push(at - removed.length);
  return { unix: text.replaceAll('\r\n', '\n'), rawOffset: (offset) => offset + countBelow(removed, offset) };
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
