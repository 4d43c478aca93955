import { loggedEvents, type Checkpoint, type EventLog } from '@tendon/core';
import { INITIAL_STATE, isAction, isObservation, reduce, type ConversationState, type Event } from '@tendon/protocol';

/** Where one conversation leaves another. */
export interface ForkPoint {
  /** The last event that both have. */
  readonly event: number;
  /** The fold of the events up to there. */
  readonly state: ConversationState;
  /** What the workspace was then; nothing where that is what it is now. */
  readonly checkpoint: number | undefined;
}

/** Before these the sandbox looks at the whole workspace, and stores it where it has changed. */
export const STORED_BEFORE: ReadonlySet<string> = new Set(['run', 'run_ipython', 'write', 'edit', 'restore_checkpoint']);

/** Rejects, with a reason that can be shown, where what the workspace was then is no longer stored. */
export async function forkPoint(log: EventLog, event: number, checkpoints: readonly Checkpoint[]): Promise<ForkPoint> {
  let state = INITIAL_STATE;
  const later: Event[] = [];
  const answers = new Map<number, string>();
  for await (const each of loggedEvents(log)) {
    if (each.id <= event) state = reduce(state, each);
    else if (isAction(each) && STORED_BEFORE.has(each.action)) later.push(each);
    else if (isObservation(each) && each.cause !== undefined) answers.set(each.cause, each.observation);
  }
  const unanswered = state.pending.filter(({ action }) => STORED_BEFORE.has(action));
  const own = checkpoints.filter((each) => isOfLog(log, each));
  for (const { id } of [...unanswered, ...later]) {
    const made = own.find(({ actionId }) => actionId === id);
    if (made) return { event, state, checkpoint: made.number };
    // Without a checkpoint of its own the workspace was then what it is in the one before. An error may mean that it never ran.
    const answer = answers.get(id);
    if (answer === undefined || answer === 'error' || answer === 'user_rejected') continue;
    const before = own.find(({ actionId }) => actionId < id);
    if (!before) throw new Error('what the workspace was then is not stored (any more); fork from a later event');
    return { event, state, checkpoint: before.number };
  }
  return { event, state, checkpoint: undefined };
}

/** Whether the checkpoint belongs to an action of this log: an id that was lost and assigned again has another epoch. */
export function isOfLog(log: EventLog, { actionId, epoch }: Checkpoint): boolean {
  return actionId < log.nextId && (log.epochOf(actionId) || undefined) === epoch;
}
