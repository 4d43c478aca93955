/**
 * Replaces secrets by `<secret_hidden>`, by value, wherever text goes: events before they are appended, and streams.
 *
 * Invariants
 * M1  Every character that belongs to an occurrence of a secret is hidden; overlapping occurrences become one mark.
 * M2  A stream gives out a character only when no secret can begin at or before it any more: it holds back less than the
 *     longest secret, and only while what it holds looks like one.
 */
import type { SourcedDraft } from './log/event-log.ts';
import type { Secret } from './secret.ts';

export const SECRET_HIDDEN = '<secret_hidden>';

export interface Mask {
  text(text: string): string;
  /** Every string of the draft but the kind and the source. */
  draft(draft: SourcedDraft): SourcedDraft;
  stream(): MaskedStream;
}

export interface MaskedStream {
  /** What can be shown now. */
  push(text: string): string;
  /** The rest, at the end. */
  flush(): string;
}

export function createMask(secrets: readonly Secret[]): Mask {
  const values = [...new Set(secrets.flatMap((secret) => (secret.isMaskable ? spellings(secret.reveal()) : [])))].toSorted(
    (a, b) => b.length - a.length,
  );
  const text = (input: string): string => (values.length === 0 ? input : hide(input, occurrences(input, values)));
  return {
    text,
    draft: (draft) => (values.length === 0 ? draft : maskDraft(draft, text)),
    stream: () => (values.length === 0 ? { push: (chunk) => chunk, flush: () => '' } : createStream(values)),
  };
}

/** Tool arguments are JSON inside a string, where a secret with quotes or line ends is spelled differently. */
function spellings(value: string): readonly string[] {
  return [value, JSON.stringify(value).slice(1, -1)];
}

/** Half-open ranges, ascending, merged where they touch or overlap. */
type Ranges = readonly (readonly [from: number, to: number])[];

function occurrences(text: string, values: readonly string[], hiddenPrefix = 0): Ranges {
  const found: [number, number][] = hiddenPrefix > 0 ? [[0, hiddenPrefix]] : [];
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) found.push([at, at + value.length]);
  }
  const merged: [number, number][] = [];
  for (const range of found.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && range[0] < last[1]) last[1] = Math.max(last[1], range[1]);
    else merged.push([...range]);
  }
  return merged;
}

/** `continues`: the text before ended inside a hidden range, whose mark stands already. */
function hide(text: string, ranges: Ranges, continues = false): string {
  let shown = '';
  let at = 0;
  for (const [from, to] of ranges) {
    shown += text.slice(at, from) + (continues && from === 0 ? '' : SECRET_HIDDEN);
    at = to;
  }
  return shown + text.slice(at);
}

function createStream(values: readonly string[]): MaskedStream {
  let held = '';
  /** So many characters at the front of `held` belong to a secret that is already known. */
  let hiddenPrefix = 0;
  let continues = false;

  function give(length: number, ranges: Ranges): string {
    if (length === 0) return '';
    const inside = ranges.filter(([from]) => from < length).map(([from, to]) => [from, Math.min(to, length)] as const);
    const given = hide(held.slice(0, length), inside, continues && hiddenPrefix > 0);
    const cut = ranges.find(([from, to]) => from < length && to > length);
    hiddenPrefix = cut ? cut[1] - length : 0;
    continues = cut !== undefined;
    held = held.slice(length);
    return given;
  }

  return {
    push(chunk) {
      held += chunk;
      return give(firstPossibleStart(held, values), occurrences(held, values, hiddenPrefix));
    },
    flush: () => give(held.length, occurrences(held, values, hiddenPrefix)),
  };
}

/** Where the longest end of `text` starts that could be the beginning of a secret; its length when there is none. */
function firstPossibleStart(text: string, values: readonly string[]): number {
  const longest = values[0]?.length ?? 0;
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
    const end = text.slice(at);
    if (values.some((value) => value.length > end.length && value.startsWith(end))) return at;
  }
  return text.length;
}

const NEVER_SECRET = new Set(['action', 'observation', 'source', 'executor']);

function maskDraft(draft: SourcedDraft, text: (input: string) => string): SourcedDraft {
  return Object.fromEntries(
    Object.entries(draft).map(([key, value]) => [key, NEVER_SECRET.has(key) ? value : maskDeep(value, text)]),
  ) as unknown as SourcedDraft;
}

function maskDeep(value: unknown, text: (input: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, text)]));
}
