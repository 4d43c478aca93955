import type { Event } from '@tendon/protocol';
import type { Clock } from '../../async/clock.ts';
import { deepFreeze } from '../../log/deep-freeze.ts';
import {
  AppendConflict,
  type AppendOptions,
  type EventLog,
  type LogSnapshot,
  type ReadRange,
  type SourcedDraft,
} from '../../log/event-log.ts';
import { follow, type Followable } from '../../log/follow.ts';
import { randomEpoch } from '../../log/random-epoch.ts';
import { settleDraft, stamp, timestampsAfter } from '../../log/stamp.ts';
import { StorageError } from '../../log/storage-error.ts';
import { Wakeup } from '../../log/wakeup.ts';

const PAGE = 256;

export class MemoryLog implements EventLog, Followable {
  readonly conversationId: string;
  readonly changed = new Wakeup();
  readonly #clock: Clock;
  readonly #events: Event[] = [];
  readonly #epoch = randomEpoch();
  #snapshot: LogSnapshot | undefined;
  #endedBecause: string | undefined;

  constructor(conversationId: string, clock: Clock) {
    this.conversationId = conversationId;
    this.#clock = clock;
  }

  get nextId(): number {
    return this.#events.length;
  }

  get ended(): boolean {
    return this.#endedBecause !== undefined;
  }

  async append(drafts: readonly SourcedDraft[], { expectedId, timestamps }: AppendOptions): Promise<readonly Event[]> {
    const settled = drafts.map((draft) => deepFreeze(settleDraft(draft)));
    // Durable takes a moment everywhere: nobody may come to rely on an append that is done before its promise.
    await Promise.resolve();
    this.#assertOpen();
    if (expectedId !== this.nextId) throw new AppendConflict(expectedId, this.nextId);
    const at = timestampsAfter(this.#events.at(-1)?.timestamp ?? '', this.#clock.now(), settled.length, timestamps);
    const events = settled.map((draft, index) => Object.freeze(stamp(draft, expectedId + index, at[index]!)));
    this.#events.push(...events);
    if (events.length > 0) this.changed.wake();
    return Object.freeze(events);
  }

  async read({ from = 0, to = this.nextId, limit = Infinity, reverse = false }: ReadRange = {}): Promise<readonly Event[]> {
    this.#assertOpen();
    const events = this.#events.slice(Math.max(0, from), Math.max(0, to));
    return (reverse ? events.toReversed() : events).slice(0, Math.max(0, limit));
  }

  epochOf(): string {
    return this.#epoch;
  }

  follow(from: number, { signal }: { readonly signal: AbortSignal }): AsyncIterable<Event> {
    return follow(this, from, signal);
  }

  async snapshot(): Promise<LogSnapshot | undefined> {
    this.#assertOpen();
    return this.#snapshot;
  }

  async storeSnapshot(snapshot: LogSnapshot): Promise<void> {
    this.#assertOpen();
    this.#snapshot = snapshot;
  }

  page(from: number): readonly Event[] {
    return this.#events.slice(from, from + PAGE);
  }

  /** Followers end, everything else is refused from now on. */
  end(reason: string): void {
    this.#endedBecause ??= reason;
    this.changed.wake();
  }

  #assertOpen(): void {
    if (this.#endedBecause !== undefined) throw new StorageError('closed', this.#endedBecause);
  }
}
