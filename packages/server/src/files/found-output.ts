import type { EventLog } from '@tendon/core';
import type { Event } from '@tendon/protocol';

export type FoundOutput =
  | { readonly state: 'whole'; readonly text: string }
  /** Longer than its event, or still growing: the sandbox has it. */
  | { readonly state: 'in-sandbox'; readonly actionId: number }
  | { readonly state: 'none'; readonly reason: string };

const PRINTING = new Set(['run', 'run_ipython']);
const CUT = '[... Observation truncated due to length';
/** An observation that comes later than so many events after its action is looked for no further. */
const MAX_BETWEEN = 1000;

/** Where the output of an action is; `eventId` names the action or its observation. */
export async function foundOutput(log: EventLog, eventId: number): Promise<FoundOutput> {
  const event = await eventAt(log, eventId);
  if (!event) return { state: 'none', reason: `There is no event ${eventId} in this conversation.` };
  const action = 'observation' in event && event.cause !== undefined ? await eventAt(log, event.cause) : event;
  if (!action || !('action' in action) || !PRINTING.has(action.action))
    return { state: 'none', reason: `Event ${eventId} is neither a command or a cell nor the answer to one, so it has no output.` };
  const later = await log.read({ from: action.id + 1, limit: MAX_BETWEEN });
  const answer = later.find((one) => 'observation' in one && one.cause === action.id);
  if (!answer || !('content' in answer) || typeof answer.content !== 'string' || answer.content.includes(CUT))
    return { state: 'in-sandbox', actionId: action.id };
  return { state: 'whole', text: answer.content };
}

async function eventAt(log: EventLog, id: number): Promise<Event | undefined> {
  return (await log.read({ from: id, to: id + 1 }))[0];
}
