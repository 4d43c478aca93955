/**
 * Owns the connections to one Postgres. It does not know what is stored there.
 *
 * Invariants
 * DA1  A statement is a transaction of its own or inside `transaction`, and leaves nothing behind in its session: any two may run on different
 *      connections, so a pooler in transaction mode may stand in between.
 * DA2  Every wait has a deadline.
 * DA3  A connection on which anything failed is not used again.
 */
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { StorageError } from '../../log/storage-error.ts';
import { adviceFor, isOutage, isRefusal } from './postgres-errors.ts';

const CONNECTIONS = 8;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;
/** How long a read is tried again while Postgres restarts, or another one takes its place. */
const OUTAGE_MS = 10_000;
const PAUSE_MS = 200;
/** An integer of eight bytes: ids and counts, all below 2^53. */
const INT8 = 20;
const LOCAL_HOSTS: readonly string[] = ['', 'localhost', '127.0.0.1', '[::1]'];

/** Runs one statement and resolves with its rows. */
export type Query = <R>(text: string, values?: readonly unknown[], timeoutMs?: number) => Promise<readonly R[]>;

export class Database {
  readonly #pool: pg.Pool;
  /** The server and the database, without a password. */
  readonly place: string;
  #isClosed = false;

  /** Connects with the first statement. Throws `StorageError` when the address is none that may be used. */
  constructor(url: string) {
    this.place = checkedPlace(url);
    this.#pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      types: { getTypeParser: (oid, format) => ((oid as number) === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
    });
    // What breaks while it is idle is replaced with the next statement.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Runs a statement once, as its own transaction. Rejects with `StorageError`: `undone` when it had no effect, `unknown` when the
   * connection broke before the answer came.
   */
  readonly write: Query = <R>(text: string, values?: readonly unknown[], timeoutMs?: number) =>
    this.#borrow(async (client) => {
      try {
        return await rowsOf<R>(client, text, values, timeoutMs);
      } catch (cause) {
        throw this.#failure(cause, isRefusal(cause) ? 'undone' : 'unknown');
      }
    });

  /** Runs a statement that changes nothing; tried again for a while where Postgres does not answer. */
  readonly read: Query = async <R>(text: string, values?: readonly unknown[]) => {
    const end = performance.now() + OUTAGE_MS;
    for (;;) {
      try {
        return await this.write<R>(text, values);
      } catch (error) {
        if (this.#isClosed || !isOutage((error as StorageError).cause) || performance.now() > end) throw error;
      }
      await setTimeout(PAUSE_MS);
    }
  };

  /** Runs the statements of `work` as one transaction. Rejects as `write` does, and with what `work` throws, rolled back. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#borrow(async (client) => {
      let code: 'undone' | 'unknown' = 'undone';
      try {
        await rowsOf(client, 'BEGIN');
        const result = await work((text, values) => rowsOf(client, text, values));
        code = 'unknown';
        await rowsOf(client, 'COMMIT');
        return result;
      } catch (cause) {
        throw this.#failure(cause, isRefusal(cause) ? 'undone' : code);
      }
    });
  }

  /** Resolves when what runs has ended; what comes later is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }

  /** A connection that failed goes back to nobody: with it, Postgres rolls back what was begun on it. */
  async #borrow<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StorageError('closed', 'the storage is closed');
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw this.#failure(cause, 'undone');
    });
    // One that breaks between two statements fails the next of them.
    const ignore = (): void => undefined;
    client.on('error', ignore);
    let isWhole = false;
    try {
      const result = await work(client);
      isWhole = true;
      return result;
    } finally {
      client.off('error', ignore);
      client.release(!isWhole);
    }
  }

  #failure(cause: unknown, code: 'undone' | 'unknown'): StorageError {
    if (cause instanceof StorageError) return cause;
    return new StorageError(code, `Postgres (${this.place}): ${adviceFor(cause)}`, { cause });
  }
}

async function rowsOf<R>(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  timeoutMs = STATEMENT_MS,
): Promise<readonly R[]> {
  const { rows } = await client.query({ text, values: [...values], query_timeout: timeoutMs } as pg.QueryConfig);
  return rows as R[];
}

/** The password stays out of every message. A server on another host is asked over TLS unless the address says otherwise. */
function checkedPlace(url: string): string {
  const parsed = URL.parse(url.replace(/^(postgres(?:ql)?:\/\/)(?=\/)/, '$1localhost'));
  if (!parsed || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    throw new StorageError('unusable', 'The address of the database is not as expected: postgres://USER:PASSWORD@HOST:5432/DATABASE.');
  }
  const socket = parsed.searchParams.get('host');
  const host = socket ?? parsed.hostname;
  if (!LOCAL_HOSTS.includes(host) && !host.startsWith('/') && !parsed.searchParams.has('sslmode')) {
    throw new StorageError(
      'unusable',
      `The address of the database does not say how ${host} is reached: add ?sslmode=verify-full, or ?sslmode=disable on a network of your own.`,
    );
  }
  return `${host}${parsed.port && `:${parsed.port}`}${parsed.pathname}`;
}
