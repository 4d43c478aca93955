/** A place that a sandbox wanted to connect to and might not. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly reason: string;
  readonly count: number;
}

const MAX_HOSTS = 50;
const MAX_NAME = 253;

/** The newest refused places of one sandbox, the newest last. What asks may be hostile: names and places are bounded. */
export interface RefusedHosts {
  /** False when the same place was refused before. */
  note(host: string, port: number, reason: string): boolean;
  readonly list: readonly RefusedHost[];
}

export function createRefusedHosts(): RefusedHosts {
  const places = new Map<string, RefusedHost>();
  return {
    note(given, port, reason) {
      const host = given.slice(0, MAX_NAME);
      const key = `${host}:${port}`;
      const known = places.get(key);
      places.delete(key);
      places.set(key, { host, port, reason, count: (known?.count ?? 0) + 1 });
      const oldest = places.keys().next();
      if (places.size > MAX_HOSTS && !oldest.done) places.delete(oldest.value);
      return known === undefined;
    },
    get list() {
      return [...places.values()];
    },
  };
}
