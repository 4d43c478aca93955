import { setImmediate } from 'node:timers/promises';
import type { EventLog } from '@tendon/core';
import { isAction, isObservation, type Action, type Event } from '@tendon/protocol';

const MAX_DECISIONS = 40;
/** Further back nobody looks: what was decided then is not in the count. */
const MAX_EVENTS = 5_000;
const PAGE = 200;

/** What a person decided about an action that waited, as the agent had written it. */
export interface PastDecision {
  readonly action: Action;
  readonly isApproved: boolean;
}

/** The last ones in this log, newest first. What nobody decided about in time, or a change of the policy released, is none. */
export async function pastDecisions(log: EventLog): Promise<readonly PastDecision[]> {
  const found: PastDecision[] = [];
  const oldest = Math.max(0, log.nextId - MAX_EVENTS);
  let next: Event | undefined;
  for (let to = log.nextId; to > oldest && found.length < MAX_DECISIONS; await setImmediate()) {
    const events = await log.read({ from: oldest, to, limit: PAGE, reverse: true });
    if (events.length === 0) break;
    for (const event of events) {
      const decision = next && (await decisionAt(event, next, log));
      if (decision && found.length < MAX_DECISIONS) found.push(decision);
      next = event;
    }
    to = next!.id;
  }
  return found;
}

/** Behind a person's word the action that waited is answered, before it is added again as it was decided, or as it was changed. */
async function decisionAt(event: Event, next: Event, log: EventLog): Promise<PastDecision | undefined> {
  if (!isAction(event) || event.action !== 'change_agent_state' || !isObservation(next) || next.cause === undefined) return undefined;
  const { agent_state: verdict } = event.args;
  if (verdict !== 'user_confirmed' && verdict !== 'user_rejected') return undefined;
  const [action] = await log.read({ from: next.cause, to: next.cause + 1 });
  return action && isAction(action) ? { action, isApproved: verdict === 'user_confirmed' } : undefined;
}
