import { closeSync, copyFileSync, mkdirSync, openSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../async/clock.ts';
import { randomEpoch } from '../../log/stamp.ts';
import { StorageError } from '../../log/storage-error.ts';
import { IN_PROCESS } from '../../scheduling/scheduler.ts';
import { BlobStore, syncDir } from '../blobs/blob-store.ts';
import { Findings, type Storage } from '../storage.ts';
import { EventTable } from './event-table.ts';
import { GroupCommit } from './group-commit.ts';
import { assertOurs, migrate, MIGRATIONS, type UpgradeProgress } from './migrations.ts';
import { PayloadTable } from './payload-table.ts';
import { lockForProcess } from './process-lock.ts';
import { SqliteEventStore } from './sqlite-event-store.ts';
import { SqliteRecordStore } from './sqlite-record-store.ts';
import { SnapshotTable } from './snapshot-table.ts';
import { SqlitePageIndex } from './sqlite-page-index.ts';
import { describeTornWal, Wal } from './wal.ts';

/** How long the event loop may wait for a lock that only a foreign tool can hold. */
const BUSY_TIMEOUT_MS = 250;

export interface SqliteStorageOptions {
  /** The database file; its folder is made when it is not there. */
  readonly path: string;
  /** Where payloads over 256 KB are stored. */
  readonly blobDir: string;
  /** Where they are stored in its place. */
  readonly blobs?: BlobStore;
  readonly clock: Clock;
  /** How the WAL is made durable; default fdatasync. Tests put failing disks here. */
  readonly fdatasync?: (file: FileHandle) => Promise<void>;
  /** Called with every finding, also with those that are made after opening. */
  readonly onFinding?: (sentence: string) => void;
  /** Called repeatedly with the progress while a database of an earlier version is copied and migrated, which can take minutes. */
  readonly onUpgrade?: (progress: UpgradeProgress) => void;
}

/** Opens the storage of one server. Rejects with `StorageError` when another process has it, a newer version wrote it, or it cannot be read. */
export async function openSqliteStorage(options: SqliteStorageOptions): Promise<Storage> {
  mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
  const unlock = lockForProcess(options.path);
  try {
    const findings = new Findings(options.onFinding);
    const torn = describeTornWal(options.path);
    if (torn !== undefined) {
      const copy = `${options.path}.torn-wal`;
      copyFileSync(`${options.path}-wal`, copy);
      findings.add(`${torn}. A copy is stored as ${copy}`);
    }
    // Made here, for SQLite would let others read it. Closing it is harmless only before SQLite has it open (see `lockForProcess`).
    closeSync(openSync(options.path, 'a', 0o600));
    const db = await openDatabase(options.path, options.onUpgrade);
    try {
      const wal = await Wal.open({ path: options.path, fdatasync: options.fdatasync, onProblem: (sentence) => findings.add(sentence) });
      await syncDir(dirname(options.path));
      return compose(db, wal, options.blobs ?? (await BlobStore.open(options.blobDir)), findings, options.clock, unlock);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openDatabase(path: string, onUpgrade?: SqliteStorageOptions['onUpgrade']): Promise<DatabaseSync> {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    assertOurs(db, path);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
    // What a killed process left in the WAL becomes durable before it is served, and no half-written frame of it lies behind later ones.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await migrate(db, path, MIGRATIONS, onUpgrade);
    // One write at once: it begins the WAL, whose header is synced here and not under the first append, and shows whether the disk can be written.
    db.exec('PRAGMA synchronous = NORMAL; UPDATE writer SET turn = turn + 1');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof StorageError) throw error;
    throw new StorageError('unusable', `${path} cannot be opened: ${(error as Error).message}. Nothing was deleted.`, { cause: error });
  }
}

function compose(db: DatabaseSync, wal: Wal, blobs: BlobStore, findings: Findings, clock: Clock, unlock: () => void): Storage {
  const commits = new GroupCommit(db, wal);
  const table = new EventTable(db);
  const payloads = new PayloadTable(db);
  // What a damaged database refers to no more may be wanted to mend it.
  const isWhole = findings.list.length === 0;
  const pages = new SqlitePageIndex({ db, commits, table, wal });
  const events = new SqliteEventStore({
    clock,
    epoch: randomEpoch(),
    tables: { events: table, payloads, snapshots: new SnapshotTable(db), pages },
    commits,
    wal,
    blobs,
    findings,
    waitedFor: new Set(),
  });
  const close = async (): Promise<void> => {
    await commits.close();
    events.close();
    try {
      await wal.close();
      db.close();
    } finally {
      unlock();
    }
  };
  let closing: Promise<void> | undefined;
  let isClosing = false;
  return {
    events,
    pages,
    records: new SqliteRecordStore(db, commits),
    scheduler: IN_PROCESS,
    findings: findings.list,
    sweep: async () => {
      if (!isWhole) return 0;
      const files = await sweepBlobs(blobs, (hash) => isClosing || table.isUsed(hash));
      return files + (await events.sweepPayloads(() => isClosing));
    },
    close() {
      isClosing = true;
      return (closing ??= close());
    },
  };
}

/**
 * Removes blobs that no log refers to: what a process had written, or was about to remove, when it was killed. Safe beside appends:
 * the writer of a blob holds it until the row that refers to it is in the database, and between asking for that and removing
 * nothing else runs. Resolves with how many went. What cannot be read stays.
 */
async function sweepBlobs(blobs: BlobStore, isUsed: (hash: string) => boolean): Promise<number> {
  let removed = 0;
  for await (const hash of blobs.hashes()) {
    await setImmediate(); // one by one: nobody waits for this
    if (!isUsed(hash) && (await blobs.remove(hash))) removed += 1;
  }
  return removed;
}
