import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../log/storage-error.ts';

const SQLITE_BUSY = 5;

/** The locks of this process: a handle that nobody refers to would be collected, and its lock given back. */
const held = new Set<DatabaseSync>();

/**
 * One process at a time writes a database. The lock is SQLite's own exclusive lock on an empty file beside it, which the kernel drops
 * with the process, however it ends. The holder's pid stands in another file, only to be shown: reading a locked file through a
 * descriptor of one's own would drop the lock on closing it (POSIX locks belong to the process and the file, not to the descriptor).
 * Takes the lock for `path`, or throws `StorageError('locked')` naming its holder. The returned function gives it back.
 */
export function lockForProcess(path: string): () => void {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new StorageError('unusable', `${path} cannot be opened: ${(error as Error).message}`, { cause: error });
    }
    throw new StorageError('locked', `${path} is in use by ${holderOf(path)}. Stop it first, or give this one another TENDON_HOME.`, {
      cause: error,
    });
  }
  try {
    writeFileSync(`${path}.pid`, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // It is only shown; the lock is held without it.
  }
  held.add(lock);
  return () => {
    if (held.delete(lock)) lock.close();
  };
}

function holderOf(path: string): string {
  try {
    const pid = Number.parseInt(readFileSync(`${path}.pid`, 'utf8'), 10);
    return Number.isInteger(pid) ? `process ${pid}` : 'another process';
  } catch {
    return 'another process';
  }
}
