/**
 * Owns the connections to one Postgres database. Does not know what is stored there.
 *
 * Invariants
 * DA1  A statement is its own transaction or runs inside `transaction`, and leaves no state in its session. Any two may therefore run on
 *      different connections, and a pooler in transaction mode works.
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
/** How long a read is retried while Postgres restarts or fails over. */
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

  /** Connects with the first statement. Throws `StorageError` when the address may not be used. */
  constructor(url: string) {
    this.place = checkedPlace(url);
    this.#pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      types: { getTypeParser: (oid, format) => ((oid as number) === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) },
    });
    // The pool replaces a connection that breaks while idle.
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

  /** Runs a statement that changes nothing; retries for a while when Postgres does not answer. */
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

  /** Resolves when all running statements have ended; later ones are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }

  /** A failed connection is destroyed, and Postgres rolls back its transaction. */
  async #borrow<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StorageError('closed', 'the storage is closed');
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw this.#failure(cause, 'undone');
    });
    // If it breaks between two statements, the next one fails.
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

/** Host, port and database without the password. Throws when the address of another host does not say whether to use TLS. */
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
