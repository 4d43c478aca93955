/**
 * Stores the fold of an open conversation, behind its events and never in the way of one: after each condensation that the
 * model's view has seen, and when enough has come since the last time. Only one is written at a time.
 */
import type { EventLog } from '../log/event-log.ts';
import type { ViewFeed } from '../loop/view-feed.ts';
import { snapshotOf } from './engine-snapshot.ts';
import type { FoldedLog } from './folded-log.ts';

/** So many events are folded by an opening at most. */
export const SNAPSHOT_EVERY = 250;

export interface SnapshotWriter {
  /** Resolves when nothing is being written any more. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  readonly log: EventLog;
  readonly folded: FoldedLog;
  readonly view: ViewFeed;
  /** Where the snapshot that was opened from ends; 0 without one. */
  readonly storedTo: number;
  readonly every?: number | undefined;
  /** Given the storage's error; the next one is tried all the same. */
  readonly report: (error: unknown) => void;
}

export function storeSnapshots({ log, folded, view, storedTo, every = SNAPSHOT_EVERY, report }: SnapshotOptions): SnapshotWriter {
  let stored = { nextId: storedTo, viewFrom: view.outline.nextId };
  let storing: Promise<void> | undefined;

  function isDue(): boolean {
    return folded.state.conversation.nextId - stored.nextId >= every || view.outline.nextId !== stored.viewFrom;
  }

  async function store(): Promise<void> {
    while (isDue()) {
      const { state } = folded;
      stored = { nextId: state.conversation.nextId, viewFrom: view.outline.nextId };
      await log.storeSnapshot(snapshotOf({ state, view: view.outline })).catch(report);
    }
  }

  function look(): void {
    if (storing || !isDue()) return;
    // A moment later: the events that came with this one are folded by then.
    storing = Promise.resolve()
      .then(store)
      .finally(() => (storing = undefined));
  }

  const leave = folded.onEvent(look);
  look();
  return {
    async close() {
      leave();
      await storing;
    },
  };
}
