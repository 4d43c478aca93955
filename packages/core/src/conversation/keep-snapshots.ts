/**
 * Keeps the fold of an open conversation on the disk, behind its events and never in the way of one: after each condensation that the
 * model's view has seen, and when enough has come since the last time. Only one is written at a time.
 */
import type { EventLog } from '../log/event-log.ts';
import type { ViewFeed } from '../loop/view-feed.ts';
import { snapshotOf } from './engine-snapshot.ts';
import type { FoldedLog } from './folded-log.ts';

/** So many events are folded by an opening at most. */
export const SNAPSHOT_EVERY = 250;

export interface SnapshotKeeper {
  /** Resolves when nothing is being written any more. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  readonly log: EventLog;
  readonly folded: FoldedLog;
  readonly view: ViewFeed;
  /** Where the snapshot that was opened from ends; 0 without one. */
  readonly keptTo: number;
  readonly every?: number | undefined;
  /** Given what the storage could not keep; the next one is tried all the same. */
  readonly report: (error: unknown) => void;
}

export function keepSnapshots({ log, folded, view, keptTo, every = SNAPSHOT_EVERY, report }: SnapshotOptions): SnapshotKeeper {
  let kept = { nextId: keptTo, viewFrom: view.outline.nextId };
  let keeping: Promise<void> | undefined;

  function isDue(): boolean {
    return folded.state.conversation.nextId - kept.nextId >= every || view.outline.nextId !== kept.viewFrom;
  }

  async function keep(): Promise<void> {
    while (isDue()) {
      const { state } = folded;
      kept = { nextId: state.conversation.nextId, viewFrom: view.outline.nextId };
      await log.keepSnapshot(snapshotOf({ state, view: view.outline })).catch(report);
    }
  }

  function look(): void {
    if (keeping || !isDue()) return;
    // A moment later: the events that came with this one are folded by then.
    keeping = Promise.resolve()
      .then(keep)
      .finally(() => (keeping = undefined));
  }

  const leave = folded.onEvent(look);
  look();
  return {
    async close() {
      leave();
      await keeping;
    },
  };
}
