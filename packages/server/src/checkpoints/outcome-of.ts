import type { EventLog } from '@tendon/core';
import { isObservation, type Observation } from '@tendon/protocol';
import { withDeadline } from '@tendon/protocol/async';

const TIMEOUT_MS = 120_000;

/** What answers the action; nothing when that takes longer than a client waits. */
export async function outcomeOf(log: EventLog, id: number): Promise<Observation | undefined> {
  return withDeadline(TIMEOUT_MS, async (signal) => {
    for await (const event of log.follow(id + 1, { signal })) if (isObservation(event) && event.cause === id) return event;
    return undefined;
  }).catch((error: unknown) => {
    if (error instanceof DOMException) return undefined;
    throw error;
  });
}
