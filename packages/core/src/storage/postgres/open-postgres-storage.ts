import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../async/clock.ts';
import type { Wakeup } from '../../log/follow.ts';
import { randomEpoch } from '../../log/stamp.ts';
import { StorageError } from '../../log/storage-error.ts';
import { Findings, type Storage } from '../storage.ts';
import { AppendQueue } from './append-queue.ts';
import { Database } from './database.ts';
import { LeasedScheduler } from './leased-scheduler.ts';
import { PostgresEventStore } from './postgres-event-store.ts';
import { PostgresPageIndex } from './postgres-page-index.ts';
import { PostgresRecordStore } from './postgres-record-store.ts';
import { RecordWatch } from './record-watch.ts';
import { migrate } from './schema.ts';
import { fencedMessage, type Holder, ServerLease } from './server-lease.ts';
import { waitForPostgres } from './wait-for-postgres.ts';

export interface PostgresStorageOptions {
  /** `postgres://USER:PASSWORD@HOST:5432/DATABASE`. */
  readonly url: string;
  readonly clock: Clock;
  /** Called with every finding, including those made after opening. */
  readonly onFinding?: (sentence: string) => void;
  /** Called once when Postgres does not answer; the server then waits for it. Default: opening is refused. */
  readonly onOutage?: (sentence: string) => void;
  /** Work under the lease of a running server. Default: take a lease of its own, or be refused. */
  readonly beside?: boolean;
  /** Set when several servers share the database. Default: this one has it to itself. */
  readonly shared?: SharedOptions | undefined;
}

export interface SharedOptions {
  /** The address at which the other servers reach this one. */
  readonly url: string;
  /** False for a gateway, which only forwards clients to the others. */
  readonly takesConversations: boolean;
}

/** Opens the storage of a server in Postgres. Rejects with `StorageError` when another server has the database to itself, a newer version upgraded it, or it cannot be used. */
export async function openPostgresStorage({
  url,
  clock,
  onFinding,
  onOutage,
  shared,
  beside = false,
}: PostgresStorageOptions): Promise<Storage> {
  const database = new Database(url);
  try {
    if (onOutage) await waitForPostgres(database, { clock, onOutage });
    await migrate(database);
    const findings = new Findings(onFinding);
    const own = { holder: thisServer(clock), hasEnded, url: shared?.url, takes: shared?.takesConversations ?? true };
    const lease = beside ? await ServerLease.join(database) : await ServerLease.take(database, own);
    await checkDurability(database, findings);
    return compose({ url, database, lease, findings, clock });
  } catch (error) {
    await database.close();
    if (error instanceof StorageError && error.code === 'undone') throw new StorageError('unusable', error.message, { cause: error.cause });
    throw error;
  }
}

interface OpenedDatabase {
  readonly url: string;
  readonly database: Database;
  readonly lease: ServerLease;
  readonly findings: Findings;
  readonly clock: Clock;
}

function compose({ url, database, lease, findings, clock }: OpenedDatabase): Storage {
  const appends = new AppendQueue({ database, lease, now: () => clock.now() });
  const waitedFor = new Set<Wakeup>();
  const events = new PostgresEventStore({
    database,
    appends,
    epoch: randomEpoch(),
    lease,
    findings,
    waitedFor,
    onDeleted: (id) => scheduler.forget(id),
  });
  const watch = new RecordWatch(url, database);
  const scheduler = new LeasedScheduler({
    database,
    lease,
    onClaimed: (id, epoch) => events.claimed(id, epoch),
    onLost: () => {
      findings.add(fencedMessage(database));
      events.endAll(fencedMessage(database), 'fenced');
    },
  });
  const close = async (): Promise<void> => {
    const accepted = appends.close();
    await watch.close();
    await accepted;
    events.close();
    await lease.release();
    await database.close();
  };
  let closing: Promise<void> | undefined;
  return {
    events,
    records: new PostgresRecordStore(database, lease, watch),
    pages: new PostgresPageIndex(database),
    scheduler,
    findings: findings.list,
    // Payloads are written and deleted in the transactions of their events, so a killed server leaves no orphans.
    sweep: async () => 0,
    close: () => (closing ??= close()),
  };
}

async function checkDurability(database: Database, findings: Findings): Promise<void> {
  const [row] = await database.read<{ commits: string }>(`SELECT current_setting('synchronous_commit') AS commits`);
  if (row!.commits === 'off') {
    findings.add(
      `The database ${database.place} has synchronous_commit = off: when it crashes, events that were shown are lost. Set it to on.`,
    );
  }
}

function thisServer(clock: Clock): Holder {
  return { host: hostname(), machine: machine(), pid: process.pid, since: clock.now().toISOString() };
}

/** Identifies this boot and PID namespace, within which pids can be compared. Empty when that is unknown. */
function machine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

function hasEnded({ machine: its, pid }: Holder): boolean {
  if (its === '' || its !== machine() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
