import { numberedLines } from '../lines.ts';

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

/** Lines of a text that look most like what was searched for, and in which way they differ. */
export interface NearestLines {
  /** Counted from 1, inclusive. */
  readonly first: number;
  readonly last: number;
  readonly lines: readonly string[];
  /** One clause for people and models. */
  readonly difference: string;
}

const MAX_WANTED_LINES = 400;
const MAX_TEXT_LINES = 400_000;
/** For comparing letter by letter, which only happens when no line is equal but for white space. */
const MAX_COMPARED_LINES = 20_000;
const MAX_COMPARED_CHARS = 300;
const MIN_LIKENESS = 0.5;
/** A line that stands so often says nothing about the place. */
const MAX_PLACES = 50;

/** Linear in the text. Nothing when no part of it looks like what was wanted. @internal */
export function nearestLines(text: string, wanted: string): NearestLines | undefined {
  const lines = text.split(/\r?\n/, MAX_TEXT_LINES);
  const sought = trimEmpty(wanted.split(/\r?\n/, MAX_WANTED_LINES));
  if (sought.length === 0) return undefined;
  const start = startByEqualLines(lines, sought) ?? startByLikeness(lines, sought);
  if (start === undefined) return undefined;
  const first = Math.max(0, start);
  const found = lines.slice(first, start + sought.length);
  return { first: first + 1, last: first + found.length, lines: found, difference: differenceOf(found, sought.slice(first - start)) };
}

function trimEmpty(lines: readonly string[]): readonly string[] {
  const isText = (line: string): boolean => line.trim() !== '';
  return lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1);
}

/** Every line that is equal but for white space votes for the place that puts it there; rare lines count more. */
function startByEqualLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = new Map<string, number[]>(sought.map((line) => [squeezed(line), []]));
  places.delete('');
  for (const [index, line] of lines.entries()) {
    const known = places.get(squeezed(line));
    if (known && known.length <= MAX_PLACES) known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [offset, line] of sought.entries()) {
    const known = places.get(squeezed(line)) ?? [];
    if (known.length > MAX_PLACES) continue;
    for (const index of known) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1 / known.length);
  }
  return best(votes, 0);
}

/** The line most like the longest one that was wanted, which says most about the place. */
function startByLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const longest = sought.reduce((known, line) => (line.trim().length > known.trim().length ? line : known));
  const pairs = pairsOf(longest);
  if (pairs.size === 0) return undefined;
  const offset = sought.indexOf(longest);
  const votes = new Map<number, number>();
  for (const [index, line] of lines.slice(0, MAX_COMPARED_LINES).entries()) {
    const likeness = likenessOf(pairs, line);
    if (likeness >= MIN_LIKENESS) votes.set(index - offset, likeness);
  }
  return best(votes, MIN_LIKENESS);
}

function best(votes: ReadonlyMap<number, number>, atLeast: number): number | undefined {
  let winner: number | undefined;
  let most = atLeast;
  for (const [start, count] of votes) {
    if (winner === undefined ? count >= most : count > most) [winner, most] = [start, count];
  }
  return winner;
}

/** Share of pairs of neighbouring letters that both have. */
function likenessOf(pairs: ReadonlySet<string>, line: string): number {
  const others = pairsOf(line);
  if (others.size === 0) return 0;
  let common = 0;
  for (const pair of others) if (pairs.has(pair)) common += 1;
  return (2 * common) / (pairs.size + others.size);
}

function pairsOf(line: string): ReadonlySet<string> {
  const text = squeezed(line).slice(0, MAX_COMPARED_CHARS);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function squeezed(line: string): string {
  return line.replaceAll(/\s+/g, '');
}

function differenceOf(found: readonly string[], sought: readonly string[]): string {
  const isSame = (equal: (one: string, other: string) => boolean): boolean =>
    found.length === sought.length && found.every((line, index) => equal(line, sought[index]!));
  if (isSame((one, other) => one === other)) return 'they are the same, but what stands around old_str differs';
  if (isSame((one, other) => one.trimEnd() === other.trimEnd())) return 'they differ only in white space at the ends of lines';
  if (isSame((one, other) => one.trim() === other.trim())) return `they differ only in indentation${tabs(found, sought)}`;
  if (isSame((one, other) => squeezed(one) === squeezed(other))) return 'they differ only in white space';
  const at = sought.findIndex((line, index) => line.trim() !== found[index]?.trim());
  return `old_str differs first in its line ${at + 1}: \`${shortened(sought[at]!)}\``;
}

function tabs(found: readonly string[], sought: readonly string[]): string {
  const has = (lines: readonly string[]): boolean => lines.some((line) => /^\s*\t/.test(line));
  if (has(found) === has(sought)) return '';
  return has(found) ? ' (the file has tabs, old_str spaces)' : ' (the file has spaces, old_str tabs)';
}

function shortened(line: string): string {
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

const MAX_HINT_LINES = 30;

/** Where something like it stands, so that the next try can be right. */
export function closestLines(text: string, wanted: string): string {
  const nearest = nearestLines(text, wanted);
  if (nearest === undefined) return ' No lines of the file look like it: view the file first.';
  const { first, last, lines, difference } = nearest;
  const shown = lines.slice(0, MAX_HINT_LINES).map((line) => (line.length > 500 ? `${line.slice(0, 500)}…` : line));
  const more = lines.length > shown.length ? '\n…' : '';
  return `\nThe closest lines are ${first} to ${last}; ${difference}.\n${numberedLines(shown, first)}${more}`;
}
