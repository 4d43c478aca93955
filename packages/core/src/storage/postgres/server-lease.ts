/**
 * Says which servers work on the database. Owns this server's row in `servers`, and what it has last seen of the others'. That nobody else
 * writes is checked in each write, by the id of the row.
 *
 * Invariants
 * SE1  A server whose row has ended writes nothing any more. Only a row that is over is ended, and what is ended never goes on: a server that
 *      comes back makes a new one.
 * SE2  A server that is alive is not over: it extends its lease each `BEAT_MS`, by the clock of the database.
 * SE3  A server that ended is followed at once where that can be seen from here, else when its lease is over.
 * SE4  A server without an address has the database alone.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ServerNode } from '../../scheduling/scheduler.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database, Query } from './database.ts';

const LEASE_MS = 6_000;
const BEAT_MS = 1_000;
/** An answer that takes longer is not waited for: the next extension may get through. */
const BEAT_WAIT_MS = 2_000;
/** Between two looks at a lease. */
const LOOK_MS = 250;
const NEXT_LEASE_MS = 10_000;
/** Taken while a server begins: "TNDS". */
const LOCK = 0x544e4453;
const LEASE_END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

/** Identifies a server to people, and to other servers on its machine. */
export interface Holder {
  readonly host: string;
  /** Where its pid counts. */
  readonly machine: string;
  readonly pid: number;
  readonly since: string;
}

/** Of the table `servers`. */
export interface ServerRow {
  readonly id: string;
  readonly url: string | null;
  readonly holder: string;
  readonly takes: boolean;
  readonly load: number;
  /** How often it has given up conversations. */
  readonly released: number;
  readonly is_ended: boolean;
  /** It may write, but did not extend its lease. */
  readonly is_over: boolean;
}

export interface LeaseOptions {
  readonly holder: Holder;
  /** Where other servers reach it. Default: it has the database alone. */
  readonly url?: string | undefined;
  /** Whether new conversations may come to it, once it is active. */
  readonly takes: boolean;
  /** Whether it can be seen from here that this server has ended. */
  readonly hasEnded: (holder: Holder) => boolean;
}

export interface LeaseHandlers {
  /** The rows of all servers, after each extension. */
  readonly onBeat: (servers: readonly ServerRow[]) => void;
  /** Called once for each lease that another server has ended. */
  readonly onLost: () => void;
}

export class ServerLease {
  readonly #database: Database;
  readonly #options: LeaseOptions;
  #handlers: LeaseHandlers = { onBeat: () => undefined, onLost: () => undefined };
  #id: string;
  #takes = false;
  #load = 0;
  #timer: NodeJS.Timeout | undefined;
  #extendedAt = performance.now();
  #isLost = false;
  #isExtending = false;
  #isReleased = false;

  private constructor(database: Database, options: LeaseOptions, id: string) {
    this.#database = database;
    this.#options = options;
    this.#id = id;
  }

  /** Rejects with `StorageError('locked')` naming the server that has the database alone, or that this one cannot be beside. */
  static async take(database: Database, options: LeaseOptions): Promise<ServerLease> {
    const lease = new ServerLease(database, options, await enter(database, { ...options, takes: false }));
    lease.#begin();
    return lease;
  }

  /** Works under the lease of a server that is there: nothing is extended, and nothing released. */
  static async join(database: Database): Promise<ServerLease> {
    const [row] = await database.read<{ id: string }>('SELECT id FROM tendon.servers WHERE NOT ended ORDER BY since DESC LIMIT 1');
    if (!row) throw new StorageError('unusable', `No server works on the database ${database.place}.`);
    return new ServerLease(database, { holder: NOBODY, takes: false, hasEnded: () => false }, row.id);
  }

  /** What this server is called in each write. */
  get id(): string {
    return this.#id;
  }

  /** Undefined where it has the database alone. */
  get self(): ServerNode | undefined {
    const { url } = this.#options;
    return url === undefined ? undefined : { id: this.#id, url, takesConversations: this.#takes, load: this.#load };
  }

  /** Whether no other server can have ended it yet, as far as can be known without asking. */
  get isCurrent(): boolean {
    return !this.#isLost && (this.#timer === undefined || performance.now() - this.#extendedAt < LEASE_MS);
  }

  listen(handlers: LeaseHandlers): void {
    this.#handlers = handlers;
  }

  set load(load: number) {
    this.#load = load;
  }

  /** New conversations may come from now on, where it takes any; the others know it when this resolves. */
  async activate(): Promise<void> {
    this.#takes = this.#options.takes;
    await this.#extend();
  }

  /** It takes no new conversations from now on; the others know it when this resolves. */
  async retire(): Promise<void> {
    this.#takes = false;
    await this.#extend();
  }

  /** A lease anew, after one that was lost; tried until there is one. */
  async renew(): Promise<void> {
    while (this.#isLost && !this.#isReleased) {
      const id = await enter(this.#database, { ...this.#options, takes: this.#takes }).catch(() => undefined);
      if (id === undefined) await setTimeout(BEAT_MS);
      else {
        this.#id = id;
        this.#begin();
      }
    }
  }

  /** Whether there is another lease than this one, which has ended; waited for as long as a read waits for Postgres. */
  async after(id: string): Promise<boolean> {
    const givesUpAt = performance.now() + NEXT_LEASE_MS;
    while (this.#id === id && this.self && !this.#isReleased && performance.now() < givesUpAt) await setTimeout(LOOK_MS);
    return this.#id !== id;
  }

  /** The next server need not wait. Never rejects: else the lease runs out. */
  async release(): Promise<void> {
    if (this.#timer === undefined) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    await this.#database.write('UPDATE tendon.servers SET ended = true WHERE id = $1', [this.#id]).catch(() => undefined);
  }

  /** Ends the lease of each of these servers that did not extend it, or whose process is seen to be gone. */
  async endOver(servers: readonly ServerRow[]): Promise<void> {
    const gone = servers.filter((row) => row.id !== this.#id && this.#options.hasEnded(holderOf(row)));
    await end(
      this.#database.write,
      gone.map(({ id }) => id),
    );
  }

  /** That could be ended now. */
  isOver(server: ServerRow): boolean {
    return server.is_over || server.is_ended || this.#options.hasEnded(holderOf(server));
  }

  #begin(): void {
    this.#isLost = false;
    this.#extendedAt = performance.now();
    this.#timer = setInterval(() => void this.#extend(), BEAT_MS).unref();
  }

  /** What cannot be extended now is tried again; whether it is still this server's shows with each write. */
  async #extend(): Promise<void> {
    if (this.#isExtending) return;
    this.#isExtending = true;
    const [id, startedAt] = [this.#id, performance.now()];
    const values = [id, this.#load, this.#takes];
    const rows = await this.#database.write<ServerRow & { beats: number }>(BEAT, values, BEAT_WAIT_MS).catch(() => undefined);
    this.#isExtending = false;
    if (!rows || this.#isLost || id !== this.#id) return;
    if (rows[0]?.beats === 1) {
      this.#extendedAt = startedAt;
      this.#handlers.onBeat(rows);
      return;
    }
    this.#isLost = true;
    clearInterval(this.#timer);
    this.#handlers.onLost();
  }
}

const NOBODY: Holder = { host: '', machine: '', pid: 0, since: '' };
const COLUMNS = 'id, url, holder, takes, load, released, ended AS is_ended, until <= clock_timestamp() AS is_over';
const BEAT = `
  WITH beat AS (
    UPDATE tendon.servers SET until = ${LEASE_END}, load = $2, takes = $3 WHERE id = $1 AND NOT ended RETURNING id
  )
  SELECT ${COLUMNS}, (SELECT count(*) FROM beat) AS beats FROM tendon.servers`;

/** All of them, also those that have ended and whose conversations are not taken over yet. */
export async function serversOf(database: Database): Promise<readonly ServerRow[]> {
  return database.read<ServerRow>(`SELECT ${COLUMNS} FROM tendon.servers`);
}

export function nodeOf({ id, url, takes, load }: ServerRow): ServerNode {
  return { id, url: url ?? '', takesConversations: takes, load };
}

/** Resolves with the id of the row that was made. */
async function enter(database: Database, options: LeaseOptions): Promise<string> {
  const id = randomBytes(8).toString('hex');
  let first: (ServerRow & { readonly until: number }) | undefined;
  for (;;) {
    const blocking = await tryToEnter(database, id, options);
    if (!blocking) return id;
    first ??= blocking;
    // It has extended its lease, or another one came.
    if (blocking.id !== first.id || blocking.until !== first.until) throw locked(database, blocking);
    await setTimeout(LOOK_MS);
  }
}

/** The server that this one cannot be beside; `undefined`: the row was made. */
function tryToEnter(
  database: Database,
  id: string,
  { holder, url, takes, hasEnded }: LeaseOptions,
): Promise<(ServerRow & { readonly until: number }) | undefined> {
  return database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const rows = await query<ServerRow>(`SELECT ${COLUMNS} FROM tendon.servers`);
    await end(
      query,
      rows.filter((row) => hasEnded(holderOf(row))).map((row) => row.id),
    );
    const [blocking] = await query<ServerRow & { until: number }>(
      `SELECT ${COLUMNS}, extract(epoch FROM until)::float8 * 1000 AS until FROM tendon.servers
       WHERE NOT ended AND (url IS NULL OR $1::text IS NULL) ORDER BY since DESC LIMIT 1`,
      [url ?? null],
    );
    if (blocking) return blocking;
    // What its conversations are taken over by is shown by the rows of those that share the database.
    if (url === undefined) await query('DELETE FROM tendon.servers WHERE ended');
    await query(
      `INSERT INTO tendon.servers (id, url, holder, takes, load, since, until) VALUES ($1, $2, $3, $4, 0, clock_timestamp(), ${LEASE_END})`,
      [id, url ?? null, JSON.stringify(holder), takes],
    );
    return undefined;
  });
}

async function end(query: Query, gone: readonly string[]): Promise<void> {
  await query('UPDATE tendon.servers SET ended = true WHERE NOT ended AND (until <= clock_timestamp() OR id = ANY($1::text[]))', [gone]);
}

function holderOf({ holder }: ServerRow): Holder {
  return JSON.parse(holder) as Holder;
}

function locked({ place }: Database, owner: ServerRow): StorageError {
  const { host, pid, since } = holderOf(owner);
  return new StorageError(
    'locked',
    `The database ${place} is in use by process ${pid} on ${host} since ${since}. Several servers work on one database only where each has TENDON_ADVERTISE_URL: set it for both, stop that one, or give this one another TENDON_DATABASE_URL.`,
  );
}

/** What is refused to a server, or reported, once another one has ended its lease. */
export function fencedMessage({ place }: Database): string {
  return `Another server has taken over the database ${place}: this one stands down.`;
}
