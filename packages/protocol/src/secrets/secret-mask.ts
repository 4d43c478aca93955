/**
 * Replaces secrets by `<secret_hidden>`, by value and in every usual spelling, wherever text goes: events before they are
 * appended, and streams.
 *
 * Invariants
 * SM1  Every character that belongs to an occurrence of a secret is hidden; overlapping occurrences become one mark.
 * SM2  A stream gives out a character only when no secret can begin at or before it any more: it holds back less than the
 *      longest secret, and only while what it holds looks like one.
 * SM3  When output pauses, a held end of at most three characters is shown: those may be a secret's first. The rest of it is hidden.
 */
import type { AnswerReasoning, ProviderMetadata } from '../event.ts';
import { createPatternFinder, type Found, type Range } from './pattern-finder.ts';
import type { Secret } from './secret.ts';

/** @internal */
export const SECRET_HIDDEN = '<secret_hidden>';

export interface Mask {
  text(text: string): string;
  /** Every string of the draft but the kind, the source and what is opaque in `reasoning`. */
  draft<T extends object>(draft: T): T;
  stream(): MaskedStream;
}

export interface MaskedStream {
  /** What can be shown now. */
  push(text: string): string;
  /** Nothing more came for a while: a single letter that could begin a secret is shown. */
  pause(): string;
  /** The rest, at the end. */
  flush(): string;
}

export function createMask(secrets: readonly Secret[]): Mask {
  const values = [...new Set(secrets.flatMap((secret) => (secret.isMaskable ? [secret.reveal()] : [])))];
  const search = values.length === 0 ? undefined : createSearch(values);
  const text = (input: string): string => {
    const { ranges } = search === undefined ? NOTHING : search(input);
    return ranges.length === 0 ? input : hide(input, merged(ranges));
  };
  return {
    text,
    draft: (draft) => (search === undefined ? draft : maskDraft(draft, text)),
    stream: () => (search === undefined ? { push: (chunk) => chunk, pause: () => '', flush: () => '' } : createStream(search)),
  };
}

type Search = (text: string) => Found;

const NOTHING: Found = { ranges: [], openFrom: 0 };

/** Tool arguments are JSON inside a string, commands print base64: a secret is looked for in every usual spelling. */
function createSearch(values: readonly string[]): Search {
  const spellings = values.map(spellingsOf);
  const [exact, wrapped] = [
    createPatternFinder(
      spellings.flatMap((one) => one.exact),
      false,
    ),
    createPatternFinder(
      spellings.flatMap((one) => one.wrapped),
      true,
    ),
  ];
  return (text) => {
    const [plain, coded] = [exact(text), wrapped(text)];
    return { ranges: [...plain.ranges, ...coded.ranges], openFrom: Math.min(plain.openFrom, coded.openFrom) };
  };
}

/** Ascending, merged where they overlap. */
function merged(ranges: readonly Range[], hiddenPrefix = 0): readonly Range[] {
  const all: (readonly [number, number])[] = hiddenPrefix > 0 ? [[0, hiddenPrefix], ...ranges] : [...ranges];
  const found: [number, number][] = [];
  for (const range of all.toSorted((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && range[0] < last[1]) last[1] = Math.max(last[1], range[1]);
    else found.push([...range]);
  }
  return found;
}

/** `continues`: the text before ended inside a hidden range, whose mark stands already. */
function hide(text: string, ranges: readonly Range[], continues = false): string {
  let shown = '';
  let at = 0;
  for (const [from, to] of ranges) {
    shown += text.slice(at, from) + (continues && from === 0 ? '' : SECRET_HIDDEN);
    at = to;
  }
  return shown + text.slice(at);
}

/** So much of what could be a secret is the beginning of too many other texts. */
const MAX_SHOWN = 3;

function createStream(search: Search): MaskedStream {
  let held = '';
  /** So many characters at the front of `held` belong to a secret that is already known. */
  let hiddenPrefix = 0;
  let continues = false;
  /** So many at the front of `held` were shown in a pause. */
  let shown = 0;

  function give(length: number, ranges: readonly Range[]): string {
    if (length === 0) return '';
    const isNew = length > shown;
    const inside = ranges
      .filter(([from, to]) => from < length && to > shown)
      .map(([from, to]) => [Math.max(from, shown) - shown, Math.min(to, length) - shown] as const);
    const given = isNew ? hide(held.slice(shown, length), inside, continues && hiddenPrefix > 0) : '';
    const cut = ranges.find(([from, to]) => from < length && to > length);
    hiddenPrefix = cut ? cut[1] - length : 0;
    continues = cut !== undefined && isNew;
    held = held.slice(length);
    shown = Math.max(0, shown - length);
    return given;
  }

  return {
    push(chunk) {
      held += chunk;
      const { ranges, openFrom } = search(held);
      return give(openFrom, merged(ranges, hiddenPrefix));
    },
    pause() {
      if (hiddenPrefix > 0 || held.replaceAll(/[\r\n]/g, '').length > MAX_SHOWN) return '';
      const given = held.slice(shown);
      shown = held.length;
      return given;
    },
    flush: () => give(held.length, merged(search(held).ranges, hiddenPrefix)),
  };
}

/** A signature is of the text as it was: a text that had to be changed goes without it. What is opaque leaves only to the model that made it. */
function maskReasoning(reasoning: AnswerReasoning, text: (input: string) => string): AnswerReasoning {
  const parts = reasoning.parts.map((part) => {
    const shown = text(part.text);
    return shown === part.text && isClean(part.metadata, text) ? part : { text: shown, at: part.at };
  });
  return { ...reasoning, parts };
}

/** Some endpoints repeat the text in it. */
function isClean(metadata: ProviderMetadata | undefined, text: (input: string) => string): boolean {
  return metadata === undefined || JSON.stringify(maskDeep(metadata, text)) === JSON.stringify(metadata);
}

const NEVER_SECRET = new Set(['action', 'observation', 'source', 'executor']);

function maskDraft<T extends object>(draft: T, text: (input: string) => string): T {
  const masked = Object.entries(draft).map(([key, value]) => {
    if (NEVER_SECRET.has(key)) return [key, value];
    return [key, key === 'reasoning' ? maskReasoning(value as AnswerReasoning, text) : maskDeep(value, text)];
  });
  return Object.fromEntries(masked) as T;
}

function maskDeep(value: unknown, text: (input: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, text)]));
}

/** What a secret can look like once a command has printed it. */
interface Spellings {
  /** To be found as they are. */
  readonly exact: readonly string[];
  /** To be found also with line breaks in between: `base64` and `xxd` wrap their lines. */
  readonly wrapped: readonly string[];
}

/**
 * As it is, as JSON inside JSON, quoted as shells, Python and HTML do, in URLs (as JavaScript, Python and curl write them), and in base64 and hexadecimal digits, where
 * it may stand in the middle of something longer.
 */
function spellingsOf(value: string): Spellings {
  const bytes = new TextEncoder().encode(value);
  const once = escaped(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return {
    exact: distinct([value, once, escaped(once), ...quotedForShell(value), ...forMarkup(value), ...urlEncoded(value, bytes)]),
    wrapped: distinct([...[0, 1, 2].flatMap((before) => base64Within(bytes, before)), hex, hex.toUpperCase()]),
  };
}

function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** As `set -x`, `printf %q`, `$'…'` and Python's `repr` show it. */
function quotedForShell(value: string): readonly string[] {
  const inSingle = value.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return [
    value.replaceAll("'", "'\\''"),
    value.replaceAll("'", "'\"'\"'"),
    value.replace(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&'),
    inSingle.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
    inSingle.replaceAll("\\'", "'").replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
  ];
}

function forMarkup(value: string): readonly string[] {
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = basic.replaceAll('"', '&quot;');
  return [basic, quoted, quoted.replaceAll("'", '&#x27;'), quoted.replaceAll("'", '&#39;')];
}

function urlEncoded(value: string, bytes: Uint8Array): readonly string[] {
  const except = (literal: RegExp, space = '%20'): string =>
    [...bytes].map((byte) => (byte === 0x20 ? space : percent(byte, literal))).join('');
  const usual = value.isWellFormed() ? encodeURIComponent(value) : value;
  const forms = [usual, except(/[\w.~-]/), except(/[\w.~/-]/), except(/[\w.~-]/, '+'), except(/[\w.*-]/, '+')];
  return forms.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function percent(byte: number, literal: RegExp): string {
  const character = String.fromCharCode(byte);
  return byte < 0x80 && literal.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** The characters that are the same whatever stands around the secret, which begins `before` bytes after a group of three. */
function base64Within(bytes: Uint8Array, before: number): readonly string[] {
  const shifted = new Uint8Array(before + bytes.length);
  shifted.set(bytes, before);
  let binary = '';
  for (const byte of shifted) binary += String.fromCharCode(byte);
  const text = btoa(binary).slice(Math.ceil((before * 4) / 3), Math.floor((shifted.length * 4) / 3));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
