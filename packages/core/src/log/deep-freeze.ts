/** Deeper JSON than this is refused: nobody means it, and other recursion would not survive it. */
const MAX_JSON_DEPTH = 256;

/**
 * Freezes a JSON value wholly and in place, without allocating.
 * Throws TypeError on what JSON cannot carry (functions, bigints, instances of classes, NaN, too deep nesting): that is the caller's error.
 */
export function deepFreeze<T>(value: T, depth = 0): T {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
    return value;
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} is not JSON`);
  if (depth > MAX_JSON_DEPTH) throw new TypeError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) deepFreeze(value[i], depth + 1);
  else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw new TypeError('an instance of a class is not JSON');
    for (const key in value) deepFreeze(value[key], depth + 1);
  }
  return Object.freeze(value);
}
