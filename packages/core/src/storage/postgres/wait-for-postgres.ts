import type { Clock } from '../../async/clock.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';
import { isOutage } from './postgres-errors.ts';

/** More than a database takes that recovers, or whose image has to be fetched first. */
const WAIT_MINUTES = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

interface WaitOptions {
  readonly clock: Clock;
  /** Called once, when it does not answer at first, with what is wrong. */
  readonly onOutage: (sentence: string) => void;
}

/**
 * Resolves when Postgres answers, which may be started after the server. Rejects with `StorageError` at once when it answers with what time does
 * not mend (a password, a database that is not there), and after five minutes without an answer.
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
