import type { Socket } from 'node:net';

/** A place that a sandbox has connected to. */
export interface ReachedHost {
  readonly host: string;
  readonly port: number;
  /** Milliseconds since 1970, of the newest connections; a bounded number. */
  readonly times: readonly number[];
  /** All connections. */
  readonly count: number;
  /** Of connections that have ended. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

const MAX_HOSTS = 100;
const MAX_TIMES = 20;
const MAX_NAME = 253;

/** The places that one sandbox reached, the newest last. What connects may be hostile: names, places and times are bounded. */
export interface ReachedHosts {
  note(host: string, port: number, socket: Pick<Socket, 'once' | 'bytesRead' | 'bytesWritten'>): void;
  readonly list: readonly ReachedHost[];
}

export function createReachedHosts(now: () => number): ReachedHosts {
  const places = new Map<string, ReachedHost>();
  return {
    note(given, port, socket) {
      const host = given.slice(0, MAX_NAME);
      const key = `${host}:${port}`;
      const known = places.get(key) ?? { host, port, times: [], count: 0, bytesIn: 0, bytesOut: 0 };
      places.delete(key);
      places.set(key, { ...known, times: [...known.times, now()].slice(-MAX_TIMES), count: known.count + 1 });
      const oldest = places.keys().next();
      if (places.size > MAX_HOSTS && !oldest.done) places.delete(oldest.value);
      socket.once('close', () => {
        const place = places.get(key);
        if (!place) return;
        places.set(key, {
          ...place,
          bytesIn: place.bytesIn + socket.bytesRead,
          bytesOut: place.bytesOut + socket.bytesWritten,
        });
      });
    },
    get list() {
      return [...places.values()];
    },
  };
}
