/**
 * Owns the order of appends to one database. Appends that arrive while a group is being written form the next group: one statement and
 * one commit for all conversations together.
 *
 * Invariants
 * AQ1  One group is written at a time. Its appends to the same log follow each other without a gap.
 * AQ2  The statement appends to a log only if the log is at the expected id and this server owns it.
 * AQ3  A group whose answer was lost is sent again. The statement finds what was stored the first time, so nothing is stored twice.
 */
import { setTimeout } from 'node:timers/promises';
import type { Event } from '@tendon/protocol';
import { AppendConflict, type AppendOptions } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { PreparedDraft } from '../rows/prepared-draft.ts';
import type { Database } from './database.ts';
import { LogBatch, storeBatches, type LogPosition } from './log-batch.ts';
import { isCollision, isOutage } from './postgres-errors.ts';
import type { ServerLease } from './server-lease.ts';

/** More waiting appends are refused: callers wait for their own appends, so that many indicate a fault. */
const MAX_QUEUED = 10_000;
const MAX_GROUP = 128;
/** Limits the JSON and payloads of a group; a larger append goes alone. */
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** How long a group is sent again while its outcome is unknown. */
const OUTAGE_MS = 20_000;
const PAUSE_MS = 200;

/** What an append needs of its log. */
export interface AppendedLog {
  readonly position: LogPosition;
  /** Throws `StorageError` once the log was deleted, or the storage closed. */
  assertOpen(): void;
  /** Called when the events are durable. */
  publish(events: readonly Event[], prepared: readonly PreparedDraft[]): void;
  /** Reads what other writers did to the log. Throws `StorageError('fenced')` when another server has it. */
  refresh(): Promise<void>;
}

interface Waiting {
  readonly log: AppendedLog;
  readonly prepared: readonly PreparedDraft[];
  readonly options: AppendOptions;
  readonly bytes: number;
  /** It is sent again because the epoch of the ownership had changed. */
  readonly isRepeated?: true;
  readonly resolve: (events: readonly Event[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Staged extends Waiting {
  readonly batch: LogBatch;
  readonly events: readonly Event[];
}

export interface AppendQueueOptions {
  readonly database: Database;
  readonly lease: Pick<ServerLease, 'id'>;
  readonly now: () => Date;
}

export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #queue: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #isClosed = false;
  /** Set after a group was refused: its appends are tried one by one, so that only those concerned fail. */
  #alone = 0;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  append(log: AppendedLog, prepared: readonly PreparedDraft[], options: AppendOptions): Promise<readonly Event[]> {
    if (this.#isClosed) return Promise.reject(new StorageError('closed', 'the storage is closed'));
    if (this.#queue.length >= MAX_QUEUED)
      return Promise.reject(new StorageError('undone', `${MAX_QUEUED} appends are waiting for the database`));
    const bytes = prepared.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
    return new Promise((resolve, reject) => {
      this.#queue.push({ log, prepared, options, bytes, resolve, reject });
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /** Resolves when all earlier appends are settled. */
  async settled(): Promise<void> {
    await this.#draining;
  }

  /** Refuses new appends and resolves when the accepted ones are settled. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.settled();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) await this.#settle(this.#takeGroup());
    this.#draining = undefined;
  }

  #takeGroup(): readonly Waiting[] {
    const most = this.#alone > 0 ? 1 : MAX_GROUP;
    this.#alone = Math.max(0, this.#alone - 1);
    const group = [this.#queue.shift()!];
    for (let { bytes } = group[0]!; group.length < most && this.#queue.length > 0;) {
      bytes += this.#queue[0]!.bytes;
      if (bytes > MAX_GROUP_BYTES) break;
      group.push(this.#queue.shift()!);
    }
    return group;
  }

  async #settle(group: readonly Waiting[]): Promise<void> {
    const { staged, batches, late } = this.#stage(group);
    try {
      const stored = batches.length > 0 ? await this.#store(batches) : new Set<string>();
      for (const { batch, log, events, prepared, resolve } of staged) {
        if (!stored.has(batch.at.conversationId)) continue;
        log.publish(events, prepared);
        resolve(Object.freeze(events));
      }
      late.push(...staged.filter(({ batch }) => !stored.has(batch.at.conversationId)));
    } catch (error) {
      if (staged.length > 1 && error instanceof StorageError && error.code === 'undone' && !isOutage(error.cause)) {
        this.#queue.unshift(...staged);
        this.#alone = staged.length;
      } else for (const { reject } of staged) reject(error);
    }
    await Promise.all(late.map((one) => this.#refuse(one)));
  }

  /**
   * Settles an append that lost against another writer, in this process or another, once the other's events can be read. If only the epoch
   * of the ownership had changed, the append is sent again.
   */
  async #refuse(one: Waiting & Partial<Pick<Staged, 'batch'>>): Promise<void> {
    const { log, options, isRepeated, reject } = one;
    const { ownerEpoch } = one.batch?.at ?? log.position;
    try {
      if (options.expectedId >= log.position.nextId) await log.refresh();
      log.assertOpen();
      const { position } = log;
      if (options.expectedId !== position.nextId || position.ownerEpoch === ownerEpoch || isRepeated)
        throw new AppendConflict(options.expectedId, position.nextId);
      this.#queue.push({ ...one, isRepeated: true });
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    } catch (error) {
      reject(error);
    }
  }

  #stage(group: readonly Waiting[]) {
    const batches = new Map<AppendedLog, LogBatch>();
    const staged: Staged[] = [];
    const late: Waiting[] = [];
    for (const one of group) {
      const batch = batches.get(one.log) ?? new LogBatch(one.log.position);
      if (isEnded(one)) continue;
      if (one.options.expectedId !== batch.nextId) late.push(one);
      else {
        batches.set(one.log, batch);
        staged.push({ ...one, batch, events: batch.add(one.prepared, one.options, this.#options.now()) });
      }
    }
    return { staged, batches: [...batches.values()], late };
  }

  /** The conversations whose appends are durable. */
  async #store(batches: readonly LogBatch[]): Promise<ReadonlySet<string>> {
    const { database, lease } = this.#options;
    const end = performance.now() + OUTAGE_MS;
    for (let isRepeated = false; ;) {
      try {
        const stored = new Set(await storeBatches(database.write, lease.id, batches));
        if (!isRepeated) return stored;
        for (const batch of batches) {
          const { conversationId } = batch.at;
          if (!stored.has(conversationId) && (await batch.isStored(database.read))) stored.add(conversationId);
        }
        return stored;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (error.code === 'unknown') isRepeated = true;
        const isWorthIt = isRepeated ? isOutage(error.cause) : isCollision(error.cause);
        if (!isWorthIt || performance.now() > end) throw isRepeated ? unknownOutcome(error) : error;
      }
      await setTimeout(PAUSE_MS);
    }
  }
}

function isEnded({ log, reject }: Waiting): boolean {
  try {
    log.assertOpen();
    return false;
  } catch (error) {
    reject(error);
    return true;
  }
}

function unknownOutcome(error: StorageError): StorageError {
  if (error.code === 'unknown') return error;
  return new StorageError('unknown', `whether an append was stored is not known: ${error.message}`, { cause: error.cause });
}
