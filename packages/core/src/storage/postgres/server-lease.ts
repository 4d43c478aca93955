/**
 * The lease under which this server works on the database. Owns this server's row in `servers`. Every write checks, by the id of that row,
 * that the lease has not been ended.
 *
 * Invariants
 * SE1  A server whose row is marked as ended writes nothing any more. Only an expired row is ended, and for good: a server that comes
 *      back makes a new one.
 * SE2  The lease of a living server does not expire: the server extends it every `BEAT_MS`, by the clock of the database.
 * SE3  Other servers take over at once if they can see that the process has ended, otherwise when its lease expires.
 * SE4  A server without an address has the database to itself.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ServerNode } from '../../scheduling/scheduler.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database, Query } from './database.ts';

const LEASE_MS = 6_000;
const BEAT_MS = 1_000;
/** How long an extension waits for its answer: the next one may get through. */
const BEAT_WAIT_MS = 2_000;
/** The pause between two checks of a lease. */
const LOOK_MS = 250;
const NEXT_LEASE_MS = 10_000;
/** Advisory lock that is held while a server joins: "TNDS". */
const LOCK = 0x544e4453;
const LEASE_END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

/** Identifies a server to people, and to other servers on its machine. */
export interface Holder {
  readonly host: string;
  /** Identifies the boot and PID namespace in which `pid` is valid. */
  readonly machine: string;
  readonly pid: number;
  readonly since: string;
}

/** A row of the table `servers`. */
export interface ServerRow {
  readonly id: string;
  readonly url: string | null;
  readonly holder: string;
  readonly takes: boolean;
  readonly load: number;
  /** How often it has given up conversations. */
  readonly released: number;
  readonly is_ended: boolean;
  /** The lease has expired, but nobody has ended it yet: the server may still write. */
  readonly is_over: boolean;
}

export interface LeaseOptions {
  readonly holder: Holder;
  /** The address at which other servers reach this one. Default: it has the database to itself. */
  readonly url?: string | undefined;
  /** Whether it takes new conversations once it is active. */
  readonly takes: boolean;
  /** Whether this process can see that the holder's process has ended. */
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

  /** Rejects with `StorageError('locked')`, naming the other server, when one of the two needs the database to itself. */
  static async take(database: Database, options: LeaseOptions): Promise<ServerLease> {
    const lease = new ServerLease(database, options, await enter(database, { ...options, takes: false }));
    lease.#begin();
    return lease;
  }

  /** Works under the lease of a running server, and neither extends nor releases it. */
  static async join(database: Database): Promise<ServerLease> {
    const [row] = await database.read<{ id: string }>('SELECT id FROM tendon.servers WHERE NOT ended ORDER BY since DESC LIMIT 1');
    if (!row) throw new StorageError('unusable', `No server works on the database ${database.place}.`);
    return new ServerLease(database, { holder: NOBODY, takes: false, hasEnded: () => false }, row.id);
  }

  /** The id of this server's row, which each write checks. */
  get id(): string {
    return this.#id;
  }

  /** `undefined` when this server has the database to itself. */
  get self(): ServerNode | undefined {
    const { url } = this.#options;
    return url === undefined ? undefined : { id: this.#id, url, takesConversations: this.#takes, load: this.#load };
  }

  /** Whether the lease is certainly valid, judged without asking the database. */
  get isCurrent(): boolean {
    return !this.#isLost && (this.#timer === undefined || performance.now() - this.#extendedAt < LEASE_MS);
  }

  listen(handlers: LeaseHandlers): void {
    this.#handlers = handlers;
  }

  set load(load: number) {
    this.#load = load;
  }

  /** Takes new conversations from now on, if configured to; the other servers can see it when this resolves. */
  async activate(): Promise<void> {
    this.#takes = this.#options.takes;
    await this.#extend();
  }

  /** Takes no new conversations from now on; the other servers can see it when this resolves. */
  async retire(): Promise<void> {
    this.#takes = false;
    await this.#extend();
  }

  /** Takes a new lease after one was lost; retries until it has one. */
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

  /** Whether this server has a new lease after the one of this id was lost; waits for it as long as a read waits for Postgres. */
  async after(id: string): Promise<boolean> {
    const givesUpAt = performance.now() + NEXT_LEASE_MS;
    while (this.#id === id && this.self && !this.#isReleased && performance.now() < givesUpAt) await setTimeout(LOOK_MS);
    return this.#id !== id;
  }

  /** Ends the lease, so that the next server need not wait. Never rejects: at worst the lease expires. */
  async release(): Promise<void> {
    if (this.#timer === undefined) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    await this.#database.write('UPDATE tendon.servers SET ended = true WHERE id = $1', [this.#id]).catch(() => undefined);
  }

  /** Ends the lease of each of these servers whose lease has expired, or whose process has visibly ended. */
  async endOver(servers: readonly ServerRow[]): Promise<void> {
    const gone = servers.filter((row) => row.id !== this.#id && this.#options.hasEnded(holderOf(row)));
    await end(
      this.#database.write,
      gone.map(({ id }) => id),
    );
  }

  /** Whether the lease of this row can be ended now. */
  isOver(server: ServerRow): boolean {
    return server.is_over || server.is_ended || this.#options.hasEnded(holderOf(server));
  }

  #begin(): void {
    this.#isLost = false;
    this.#extendedAt = performance.now();
    this.#timer = setInterval(() => void this.#extend(), BEAT_MS).unref();
  }

  /** A failed extension is retried with the next beat; each write checks whether the lease still holds. */
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

/** All servers, including ended ones whose conversations nobody has taken over yet. */
export async function serversOf(database: Database): Promise<readonly ServerRow[]> {
  return database.read<ServerRow>(`SELECT ${COLUMNS} FROM tendon.servers`);
}

export function nodeOf({ id, url, takes, load }: ServerRow): ServerNode {
  return { id, url: url ?? '', takesConversations: takes, load };
}

/** Inserts this server's row and resolves with its id; waits for an expired server to be ended first. */
async function enter(database: Database, options: LeaseOptions): Promise<string> {
  const id = randomBytes(8).toString('hex');
  let first: (ServerRow & { readonly until: number }) | undefined;
  for (;;) {
    const blocking = await tryToEnter(database, id, options);
    if (!blocking) return id;
    first ??= blocking;
    // The other server has extended its lease, or a third one came.
    if (blocking.id !== first.id || blocking.until !== first.until) throw locked(database, blocking);
    await setTimeout(LOOK_MS);
  }
}

/** Resolves with the server that excludes this one, or `undefined` when the row was inserted. */
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
    // A server that shares the database keeps ended rows: the takeover of their conversations still needs them.
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

/** The error of a server whose lease another one has ended. */
export function fencedMessage({ place }: Database): string {
  return `Another server has taken over the database ${place}: this one stands down.`;
}
