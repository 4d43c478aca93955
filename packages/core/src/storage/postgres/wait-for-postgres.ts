import type { Clock } from '../../async/clock.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';
import { isOutage } from './postgres-errors.ts';

/** Longer than a database needs to recover, or to have its image pulled. */
const WAIT_MINUTES = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

interface WaitOptions {
  readonly clock: Clock;
  /** Called once, with the problem, when Postgres does not answer at first. */
  readonly onOutage: (sentence: string) => void;
}

/**
 * Resolves when Postgres answers; it may start after the server. Rejects with `StorageError` at once when waiting cannot help (a wrong
 * password, a missing database), and after five minutes without an answer.
 */
export async function waitForPostgres(database: Database, { clock, onOutage }: WaitOptions): Promise<void> {
  const end = clock.now().getTime() + WAIT_MINUTES * 60_000;
  const { signal } = new AbortController();
  for (let pauseMs = 0; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS)) {
    if (pauseMs > 0) await clock.sleep(pauseMs, { signal });
    const error = await failureOf(database);
    if (!error) return;
    if (!isOutage(error.cause)) throw error;
    const problem = error.message.replace(/\.?$/, '.');
    if (clock.now().getTime() >= end) {
      throw new StorageError('unusable', `${problem} The server waited ${WAIT_MINUTES} minutes for it.`, { cause: error.cause });
    }
    if (pauseMs === 0) onOutage(`${problem} The server waits for it, ${WAIT_MINUTES} minutes at most.`);
  }
}

async function failureOf(database: Database): Promise<StorageError | undefined> {
  try {
    await database.write('SELECT 1');
    return undefined;
  } catch (error) {
    return error as StorageError;
  }
}
