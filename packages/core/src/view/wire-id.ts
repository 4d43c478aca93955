const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Gives every call of a request an id that is unique in it and that every provider takes. Some servers name the first call of each
 * answer alike, and one provider's ids can be illegal for another.
 */
export function createWireIds(): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    const legal = LEGAL.test(id) ? id : `call_${id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 40)}`;
    let unique = legal;
    for (let n = 2; used.has(unique); n++) unique = `${legal.slice(0, 48)}_${n}`;
    used.add(unique);
    return unique;
  };
}
