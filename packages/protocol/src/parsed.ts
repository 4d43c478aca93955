declare const parsed: unique symbol;

/** The mark of what has been parsed with its schema; it exists in types alone. */
export type Parsed = { readonly [parsed]: true };

/** For the two places that parse an action: the decoder of frames and the constructors of kinds. */
export function asParsed<T extends object>(value: T): T & Parsed {
  return value as T & Parsed;
}
