/**
 * The fold of a log at its opening: from the log's snapshot and the events after it, or, without a snapshot, from all events, which
 * are then read once for both the state and the place where the model's view begins.
 */
import { isAction, type Event } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import type { EventLog } from '../log/event-log.ts';
import type { ViewOutline } from '../prompt/view-outline.ts';
import { View } from '../prompt/view.ts';
import { readSnapshot } from './engine-snapshot.ts';
import { foldLog, type FoldedLog, type FoldOptions } from './folded-log.ts';

export interface OpenedFold {
  readonly folded: FoldedLog;
  readonly outline: ViewOutline;
  /** The end of the snapshot that it was opened from; 0 without one. */
  readonly storedTo: number;
}

export async function openFold(log: EventLog, agent: Agent, options: Pick<FoldOptions, 'mask' | 'retry'>): Promise<OpenedFold> {
  const snapshot = await readSnapshot(log);
  if (snapshot) {
    const folded = await foldLog(log, { ...options, from: snapshot.state });
    const isUndone = folded.state.condensation.undone.length > snapshot.state.condensation.undone.length;
    return { folded, outline: isUndone ? new View(agent).outline : snapshot.view, storedTo: snapshot.state.conversation.nextId };
  }
  const finder = new OutlineFinder(agent);
  const folded = await foldLog(log, { ...options, onRead: (event) => finder.add(event) });
  return { folded, outline: finder.outline, storedTo: 0 };
}

/** Events after a condensation that are held while looking for the next one. */
const MAX_HELD = 2_000;

/** Finds the outline after the last condensation. Where too many events lie between two, it keeps the earlier one, which is correct as well. */
class OutlineFinder {
  #view: View | undefined;
  #outline: ViewOutline;
  readonly #empty: ViewOutline;

  constructor(agent: Agent) {
    this.#view = new View(agent);
    this.#empty = this.#view.outline;
    this.#outline = this.#empty;
  }

  get outline(): ViewOutline {
    return this.#outline;
  }

  add(event: Event): void {
    if (isAction(event) && event.action === 'condensation' && event.args.undoes !== undefined) {
      // A view that skips what is undone can only be made when all that is undone is known.
      this.#outline = this.#empty;
      this.#view = undefined;
    }
    if (!this.#view) return;
    this.#view.add(event);
    this.#outline = this.#view.outline;
    if (event.id - this.#outline.nextId > MAX_HELD) this.#view = undefined;
  }
}
