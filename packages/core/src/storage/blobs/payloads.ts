/**
 * Takes the large strings out of an event's JSON and puts them back. What was taken out is listed beside the JSON, by path, never marked
 * inside it: so no string that a program prints can be mistaken for a reference.
 */
import type { Buffer as NodeBuffer } from 'node:buffer';

/** Strings of more UTF-8 bytes than this stay out of the log. */
const MAX_INLINE_BYTES = 16 * 1024;
/** A row with more characters than this after that (many middling strings, giant keys) goes out as a whole. */
const MAX_ROW_CHARACTERS = 64 * 1024;

/** `utf16` for strings with lone surrogates, which UTF-8 cannot carry. `json`: the whole value, path is empty. */
export type PayloadEncoding = 'utf8' | 'utf16' | 'json';
export type PayloadPath = readonly (string | number)[];

export interface Payload {
  readonly path: PayloadPath;
  readonly encoding: PayloadEncoding;
  readonly bytes: NodeBuffer;
}

/** The JSON text of `value` with its payloads taken out; an empty string stands in the place of each. */
export function takePayloads(value: object): { readonly json: string; readonly payloads: readonly Payload[] } {
  const json = JSON.stringify(value);
  // A UTF-16 unit is at most three bytes of UTF-8: most events need no walk at all.
  if (json.length * 3 <= MAX_INLINE_BYTES) return { json, payloads: [] };
  const payloads: Payload[] = [];
  const rest = JSON.stringify(withoutLargeStrings(value, [], payloads));
  if (rest.length <= MAX_ROW_CHARACTERS) return { json: rest, payloads };
  return { json: '""', payloads: [{ path: [], encoding: 'json', bytes: Buffer.from(json) }] };
}

function withoutLargeStrings(value: unknown, path: PayloadPath, payloads: Payload[]): unknown {
  if (typeof value === 'string') {
    if (value.length * 3 <= MAX_INLINE_BYTES || Buffer.byteLength(value) <= MAX_INLINE_BYTES) return value;
    const encoding = value.isWellFormed() ? 'utf8' : 'utf16';
    payloads.push({ path, encoding, bytes: Buffer.from(value, encoding === 'utf8' ? 'utf8' : 'utf16le') });
    return '';
  }
  if (Array.isArray(value)) return value.map((item, index) => withoutLargeStrings(item, [...path, index], payloads));
  if (typeof value !== 'object' || value === null) return value;
  // `fromEntries` defines properties, so a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutLargeStrings(item, [...path, key], payloads)]));
}

/** The text of a payload, as it stood in the JSON. */
export function payloadText(bytes: NodeBuffer, encoding: PayloadEncoding): string {
  return bytes.toString(encoding === 'utf16' ? 'utf16le' : 'utf8');
}

/** Puts a string back where it was. The place is an own property already, so `__proto__` is assigned like any other key. */
export function putBack(root: unknown, path: PayloadPath, text: string): void {
  let place = root as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, unknown>;
  place[path.at(-1)!] = text;
}
