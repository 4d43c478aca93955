import { Database } from './database.ts';

/** A server that has a lease on the database. */
export interface LeasedServer {
  readonly id: string;
  /** The address at which others reach it; `null` when it has the database to itself. */
  readonly url: string | null;
  readonly takes: boolean;
  readonly load: number;
  /** Its lease has expired. */
  readonly isOver: boolean;
}

/** The state of a database, read without working on it. */
export interface PostgresFacts {
  /** The server and the database, without a password. */
  readonly place: string;
  /** The version of Postgres, such as `16.4`. */
  readonly version: string;
  /** Round trip in milliseconds, the fastest of a few. */
  readonly latencyMs: number;
  readonly commits: string;
  readonly encoding: string;
  /** Whether it is a standby, which takes no writes. */
  readonly isStandby: boolean;
  /** How far this machine's clock is ahead of the database's. */
  readonly aheadMs: number;
  /** `undefined`: no server has worked on it yet. */
  readonly servers: readonly LeasedServer[] | undefined;
}

const QUESTIONS = 5;

/** Changes nothing, not even the schema. Rejects with a user-facing `StorageError` when the database does not answer. */
export async function inspectPostgres(url: string, now: () => Date): Promise<PostgresFacts> {
  const database = new Database(url);
  try {
    const [row] = await database.write<Pick<PostgresFacts, 'version' | 'commits' | 'encoding' | 'isStandby'> & { has: boolean }>(
      `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_setting('synchronous_commit') AS commits,
         current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby",
         to_regclass('tendon.servers') IS NOT NULL AS has`,
    );
    const { has, ...facts } = row!;
    return { place: database.place, ...facts, ...(await clockOf(database, now)), servers: has ? await serversIn(database) : undefined };
  } finally {
    await database.close();
  }
}

/** The fastest round trip gives the best estimate of the latency and of the clock difference. */
async function clockOf(database: Database, now: () => Date): Promise<Pick<PostgresFacts, 'latencyMs' | 'aheadMs'>> {
  const seen: { readonly latencyMs: number; readonly aheadMs: number }[] = [];
  for (let question = 0; question < QUESTIONS; question += 1) {
    const [asked, began] = [now().getTime(), performance.now()];
    const [row] = await database.write<{ at: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at');
    const latencyMs = performance.now() - began;
    seen.push({ latencyMs, aheadMs: asked + latencyMs / 2 - row!.at });
  }
  return seen.toSorted((a, b) => a.latencyMs - b.latencyMs)[0]!;
}

function serversIn(database: Database): Promise<readonly LeasedServer[]> {
  return database.write<LeasedServer>(
    'SELECT id, url, takes, load, until < clock_timestamp() AS "isOver" FROM tendon.servers WHERE NOT ended ORDER BY url, id',
  );
}
