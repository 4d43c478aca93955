import { attemptThroughOutage, type OutageWait } from '../../async/outage.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';
import { isOutage } from './postgres-errors.ts';

/**
 * Resolves when Postgres answers; it may start after the server. Rejects with `StorageError` at once when waiting cannot help (a wrong
 * password, a missing database), and after five minutes without an answer.
 */
export async function waitForPostgres(database: Database, wait: OutageWait): Promise<void> {
  const attempt = () => failureOf(database);
  const outageOf = (error: StorageError | undefined) => (error && isOutage(error.cause) ? sentenceOf(error) : undefined);
  const { result: error, gaveUp } = await attemptThroughOutage({ attempt, outageOf }, wait);
  if (error && gaveUp) throw new StorageError('unusable', `${sentenceOf(error)} ${gaveUp}.`, { cause: error.cause });
  if (error) throw error;
}

function sentenceOf({ message }: StorageError): string {
  return message.replace(/\.?$/, '.');
}

async function failureOf(database: Database): Promise<StorageError | undefined> {
  try {
    await database.write('SELECT 1');
    return undefined;
  } catch (error) {
    return error as StorageError;
  }
}
