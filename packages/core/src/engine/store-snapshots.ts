/**
 * Stores the fold of an open conversation in the background, without delaying its events: after each condensation that the
 * model's view has seen, and when enough events have followed the last one. Only one is written at a time.
 */
import type { EventLog } from '../log/event-log.ts';
import type { ViewFeed } from './view-feed.ts';
import { snapshotOf } from './engine-snapshot.ts';
import type { FoldedLog } from './folded-log.ts';

/**
 * An opening folds at most this many events.
 * @internal
 */
export const SNAPSHOT_EVERY = 250;

export interface SnapshotWriter {
  /** Resolves when nothing is being written any more. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  readonly log: EventLog;
  readonly folded: FoldedLog;
  readonly view: ViewFeed;
  /** The end of the snapshot that was opened from; 0 without one. */
  readonly storedTo: number;
  readonly every?: number | undefined;
  /** Called with the storage's error; the next snapshot is attempted all the same. */
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
