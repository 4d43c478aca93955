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

/** A kill loses what was reached in this time. */
const STORE_MS = 1_000;

/** Where a server keeps what sandboxes reached, for the next one; nothing is forgotten by writing nothing. */
export interface ReachedStore {
  read(conversationId: string): Promise<readonly ReachedHost[]>;
  write(conversationId: string, places: readonly ReachedHost[]): Promise<void>;
}

interface StoredPlaces {
  /** Rejects with the storage's error. */
  read(): Promise<readonly ReachedHost[]>;
  write(places: readonly ReachedHost[]): Promise<void>;
}

/** The places that the sandboxes of one conversation reached, the newest last. What connects may be hostile: names, places and times are bounded. */
export interface ReachedHosts {
  note(host: string, port: number, socket: Pick<Socket, 'once' | 'bytesRead' | 'bytesWritten'>): void;
  /** With those of servers before this one. */
  list(): Promise<readonly ReachedHost[]>;
  /** Resolves when what is known is stored, as far as it can be. */
  stored(): Promise<void>;
}

/** @internal */
export function createReachedHosts(now: () => number, store?: StoredPlaces): ReachedHosts {
  const places = new Map<string, ReachedHost>();
  let earlier: Promise<readonly ReachedHost[]> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function list(): Promise<readonly ReachedHost[]> {
    earlier ??= store?.read() ?? Promise.resolve([]);
    return merged(await earlier, places.values());
  }

  async function stored(): Promise<void> {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    // What could not be read would be written over.
    await list()
      .then((all) => store?.write(all))
      .catch(() => undefined);
  }

  function changed(key: string, place: ReachedHost): void {
    places.set(key, place);
    if (store) timer ??= setTimeout(() => void stored(), STORE_MS).unref();
  }

  return {
    note(given, port, socket) {
      const host = given.slice(0, MAX_NAME);
      const key = keyOf({ host, port });
      const known = places.get(key) ?? { host, port, times: [], count: 0, bytesIn: 0, bytesOut: 0 };
      places.delete(key);
      changed(key, { ...known, times: [...known.times, now()].slice(-MAX_TIMES), count: known.count + 1 });
      const oldest = places.keys().next();
      if (places.size > MAX_HOSTS && !oldest.done) places.delete(oldest.value);
      socket.once('close', () => {
        const place = places.get(key);
        if (!place) return;
        changed(key, { ...place, bytesIn: place.bytesIn + socket.bytesRead, bytesOut: place.bytesOut + socket.bytesWritten });
      });
    },
    list,
    stored,
  };
}

/** What was reached, by conversation. */
interface ReachedRecord {
  of(conversationId: string): ReachedHosts;
  list(conversationId: string): Promise<readonly ReachedHost[]>;
  forget(conversationId: string): Promise<void>;
  /** Resolves when all of it is stored. */
  close(): Promise<void>;
}

export function createReachedRecord(store: ReachedStore | undefined): ReachedRecord {
  const known = new Map<string, ReachedHosts>();

  function make(conversationId: string): ReachedHosts {
    const own: ReachedHosts = createReachedHosts(
      () => Date.now(),
      store && {
        read: () => store.read(conversationId),
        // One that was forgotten meanwhile stays so.
        write: async (places) => (known.get(conversationId) === own ? store.write(conversationId, places) : undefined),
      },
    );
    known.set(conversationId, own);
    return own;
  }

  return {
    of: (conversationId) => known.get(conversationId) ?? make(conversationId),
    list: async (conversationId) => known.get(conversationId)?.list() ?? store?.read(conversationId) ?? [],
    async forget(conversationId) {
      known.delete(conversationId);
      await store?.write(conversationId, []);
    },
    async close() {
      await Promise.all([...known.values()].map((reached) => reached.stored()));
    },
  };
}

function keyOf({ host, port }: Pick<ReachedHost, 'host' | 'port'>): string {
  return `${host}:${port}`;
}

function merged(earlier: readonly ReachedHost[], places: Iterable<ReachedHost>): readonly ReachedHost[] {
  const all = new Map(earlier.map((place) => [keyOf(place), place]));
  for (const place of places) {
    const key = keyOf(place);
    const before = all.get(key);
    all.delete(key);
    all.set(key, before ? sumOf(before, place) : place);
  }
  return [...all.values()].slice(-MAX_HOSTS);
}

function sumOf(before: ReachedHost, place: ReachedHost): ReachedHost {
  return {
    ...place,
    times: [...before.times, ...place.times].slice(-MAX_TIMES),
    count: before.count + place.count,
    bytesIn: before.bytesIn + place.bytesIn,
    bytesOut: before.bytesOut + place.bytesOut,
  };
}
