/**
 * JSON with an encoding for the values in the fold that JSON lacks: sets, maps, `undefined`, NaN and infinite numbers. What is read
 * is what was written; the type refuses what would not survive.
 */

/** The same type when it can be stored; where it cannot (a function, a symbol) `never`, so that it does not compile. */
export type Storable<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends symbol | bigint | ((...args: never) => unknown)
    ? never
    : T extends ReadonlySet<infer U>
      ? ReadonlySet<Storable<U>>
      : T extends ReadonlyMap<infer K, infer V>
        ? ReadonlyMap<Storable<K>, Storable<V>>
        : { readonly [K in keyof T]: Storable<T[K]> };

/** The key of an object that encodes another value. */
const TAG = '$is';

export function store<T>(value: T & Storable<T>): string {
  return JSON.stringify(toJson(value));
}

/** Throws on text that `store` did not write; the caller must know the type. */
export function restore(text: string): unknown {
  return fromJson(JSON.parse(text));
}

function toJson(value: unknown): unknown {
  if (value === undefined) return { [TAG]: 'undefined' };
  if (typeof value === 'number' && !Number.isFinite(value)) return { [TAG]: 'number', of: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Set) return { [TAG]: 'set', of: [...value].map(toJson) };
  if (value instanceof Map) return { [TAG]: 'map', of: [...value].map(toJson) };
  const entries = Object.entries(value).map(([key, held]) => [key, toJson(held)] as const);
  // An object that has this key itself is written as a list, so that data from a log cannot pass for an encoded value.
  return entries.some(([key]) => key === TAG) ? { [TAG]: 'object', of: entries } : Object.fromEntries(entries);
}

type Tagged = { readonly [TAG]: string; readonly of: never };

const TAGGED: Readonly<Record<string, (of: never) => unknown>> = {
  undefined: () => undefined,
  number: (of: string) => Number(of),
  set: (of: readonly unknown[]) => new Set(of.map(fromJson)),
  map: (of: readonly unknown[]) => new Map(of.map(fromJson) as [unknown, unknown][]),
  object: (of: readonly (readonly [string, unknown])[]) => Object.fromEntries(of.map(([key, held]) => [key, fromJson(held)])),
};

function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  if (!(TAG in value)) return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, fromJson(held)]));
  const { [TAG]: tag, of } = value as Tagged;
  const read = Object.hasOwn(TAGGED, tag) ? TAGGED[tag] : undefined;
  if (!read) throw new TypeError(`${tag} is no tag of a stored value`);
  return read(of);
}
