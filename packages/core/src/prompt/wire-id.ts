const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Gives every call of a request an id that is unique in it and that every provider takes. Some servers name the first call of each
 * answer alike, and one provider's ids can be illegal for another. `taken` are in the request already.
 */
export function createWireIds(taken: readonly string[]): (id: string) => string {
  const used = new Set(taken);
  /** The next number to try, so that a thousand calls of one name do not cost a million look-ups. */
  const counters = new Map<string, number>();
  return (id) => {
    const legal = LEGAL.test(id) ? id : `call_${id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 40)}`;
    let unique = legal;
    let n = counters.get(legal) ?? 2;
    for (; used.has(unique); n++) unique = `${legal.slice(0, 48)}_${n}`;
    counters.set(legal, n);
    used.add(unique);
    return unique;
  };
}
