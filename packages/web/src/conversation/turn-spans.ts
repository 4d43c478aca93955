import { type Event, isAction, isObservation } from '@tendon/protocol';

/** From a person's message to where the agent came to rest, when steps in between may have changed something. */
export interface TurnSpan {
  /** The message. */
  readonly start: number;
  /** The event at which the agent rests. */
  readonly end: number;
  /** The message after it, or a restore that took its files back; none for the newest turn. */
  readonly next: number | undefined;
}

const AT_REST: ReadonlySet<string> = new Set(['finished', 'stopped', 'rejected', 'error', 'awaiting_user_input']);
const CHANGES: ReadonlySet<string> = new Set(['run', 'run_ipython', 'write', 'edit']);

/** The turns that are over, oldest first. A message to an agent that works does not end its turn. */
export function turnSpans(events: readonly Event[]): readonly TurnSpan[] {
  const spans: TurnSpan[] = [];
  let start: number | undefined;
  let hasSteps = false;
  for (const event of events) {
    if (isAction(event)) {
      if (event.action === 'message' && event.source === 'user') {
        if (start === undefined) endAt(spans, event.id);
        start ??= event.id;
      } else if (event.action === 'restore_checkpoint' && event.args.what !== 'conversation' && !event.args.paths) {
        endAt(spans, event.id);
      } else if (event.source === 'agent' && CHANGES.has(event.action)) hasSteps = true;
    } else if (isObservation(event) && event.observation === 'agent_state_changed' && AT_REST.has(event.extras.agent_state)) {
      if (start !== undefined && hasSteps) spans.push({ start, end: event.id, next: undefined });
      [start, hasSteps] = [undefined, false];
    }
  }
  return spans;
}

function endAt(spans: TurnSpan[], next: number): void {
  const last = spans.at(-1);
  if (last && last.next === undefined) spans[spans.length - 1] = { ...last, next };
}
