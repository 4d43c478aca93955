/**
 * Says which server has the database. It owns the row `owner`; that nobody else writes is checked in each write, by its epoch.
 *
 * Invariants
 * O1  At most one server has an epoch that is not over: taking the database over makes a greater one, which ends all earlier ones.
 * O2  A server that is alive is not taken over: it extends its lease every `BEAT_MS`, by the clock of the database.
 * O3  A server that ended is followed at once where that can be seen from here, else when its lease is over.
 */
import { setTimeout } from 'node:timers/promises';
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';

const LEASE_MS = 6_000;
const BEAT_MS = 2_000;
/** Between two looks at another server's lease. */
const LOOK_MS = 250;

/** Identifies a server to people, and to other servers on its machine. */
export interface Holder {
  readonly host: string;
  /** Where its pid counts. */
  readonly machine: string;
  readonly pid: number;
  readonly since: string;
}

interface OwnerRow {
  readonly epoch: number;
  readonly holder: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly until: number;
}

export interface LeaseOptions {
  readonly holder: Holder;
  /** Called once when another server has taken the database over. */
  readonly onLost: () => void;
  /** Whether it can be seen from here that this server has ended. */
  readonly hasEnded: (holder: Holder) => boolean;
}

export class OwnerLease {
  readonly epoch: number;
  readonly #database: Database;
  readonly #onLost: () => void;
  readonly #timer: NodeJS.Timeout;

  private constructor(database: Database, epoch: number, onLost: () => void) {
    this.#database = database;
    this.#onLost = onLost;
    this.epoch = epoch;
    this.#timer = setInterval(() => void this.#extend(), BEAT_MS).unref();
  }

  /** Rejects with `StorageError('locked')` naming the server that has the database. */
  static async take(database: Database, { holder, hasEnded, onLost }: LeaseOptions): Promise<OwnerLease> {
    let first: OwnerRow | undefined;
    for (;;) {
      const epoch = await takeOver(database, holder, first && hasEnded(holderOf(first)) ? first.epoch : undefined);
      if (epoch !== undefined) return new OwnerLease(database, epoch, onLost);
      const owner = await ownerOf(database);
      first ??= owner;
      // It has extended its lease, or another took over.
      if (owner && first && hasChanged(owner, first)) throw locked(database, owner);
      await setTimeout(LOOK_MS);
    }
  }

  /** The epoch of the server that has the database now: to write beside it. */
  static async join(database: Database): Promise<number> {
    return (await ownerOf(database))?.epoch ?? 0;
  }

  /** The next server need not wait. Never rejects: else the lease runs out. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#set('now()').catch(() => undefined);
  }

  /** What cannot be extended now is tried again; whether it is still this server's shows with each write. */
  async #extend(): Promise<void> {
    const extended = await this.#set(`now() + interval '${LEASE_MS} milliseconds'`).catch(() => undefined);
    if (extended?.length !== 0) return;
    clearInterval(this.#timer);
    this.#onLost();
  }

  #set(until: string): Promise<readonly unknown[]> {
    return this.#database.write(`UPDATE tendon.owner SET until = ${until} WHERE epoch = $1 RETURNING epoch`, [this.epoch]);
  }
}

function hasChanged(a: OwnerRow, b: OwnerRow): boolean {
  return a.until !== b.until || a.epoch !== b.epoch;
}

/** The epoch that was made; `undefined` when the lease of another server is not over, unless that has this epoch. */
async function takeOver(database: Database, holder: Holder, endedEpoch = -1): Promise<number | undefined> {
  const [row] = await database.write<{ epoch: number }>(
    `INSERT INTO tendon.owner AS o (one, epoch, holder, until) VALUES (1, 1, $1, now() + interval '${LEASE_MS} milliseconds')
     ON CONFLICT (one) DO UPDATE SET epoch = o.epoch + 1, holder = excluded.holder, until = excluded.until
     WHERE o.until <= now() OR o.epoch = $2
     RETURNING epoch`,
    [JSON.stringify(holder), endedEpoch],
  );
  return row?.epoch;
}

async function ownerOf(database: Database): Promise<OwnerRow | undefined> {
  const [row] = await database.read<OwnerRow>(`SELECT epoch, holder, extract(epoch FROM until)::float8 * 1000 AS until FROM tendon.owner`);
  return row;
}

function holderOf({ holder }: OwnerRow): Holder {
  return JSON.parse(holder) as Holder;
}

function locked({ place }: Database, owner: OwnerRow): StorageError {
  const { host, pid, since } = holderOf(owner);
  return new StorageError(
    'locked',
    `The database ${place} is in use by process ${pid} on ${host} since ${since}. One server at a time works on a database: stop that one first, or give this one another TENDON_DATABASE_URL.`,
  );
}

/** What is refused to a server, or reported, once it has lost the database. */
export function fencedMessage({ place }: Database): string {
  return `Another server has taken over the database ${place}: this one stands down. Stop it.`;
}
