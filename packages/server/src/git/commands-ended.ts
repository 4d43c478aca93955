import { isObservation, isRunnable, type Action, type ConversationState } from '@tendon/protocol';
import type { Conversations } from '../conversations/conversations.ts';

/**
 * Resolves when every command that runs in the conversation now has its observation, or when `signal` aborts. Frontends ask what has
 * changed as soon as they see a command, and not again when it has ended. Does not wait for commands that begin meanwhile.
 */
export async function commandsEnded(conversations: Conversations, id: string, signal: AbortSignal): Promise<void> {
  if (runningIn(conversations.state(id)).size === 0) return;
  const held = await conversations.enter(id);
  if (!held) return;
  try {
    const { conversation, ended } = held.room;
    const { nextId } = conversation.state;
    const running = runningIn(conversation.state);
    if (running.size === 0) return;
    for await (const event of conversation.log.follow(nextId, { signal: AbortSignal.any([signal, ended]) })) {
      if (isObservation(event) && event.cause !== undefined) running.delete(event.cause);
      if (running.size === 0) return;
    }
  } finally {
    held.release();
  }
}

function runningIn(state: ConversationState | undefined): Set<number> {
  return new Set((state?.pending ?? []).filter(isRunning).map(({ id }) => id));
}

/** A command that waits for a confirmation does not run, and may wait for ever. */
function isRunning({ action, args }: Action): boolean {
  const isAsked = 'confirmation_state' in args && args.confirmation_state === 'awaiting_confirmation';
  return isRunnable(action) && !isAsked;
}
