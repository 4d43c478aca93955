import { type ConversationSnapshot, readNow } from '@tendon/client';
import { useState } from 'react';
import { useConversationActs } from './open-conversation.ts';

/** A step that does not end by then is the state line's to report. */
const PATIENCE_MS = 60_000;

/** Whether a step or an answer can be stopped, so that a message is read at once. */
export function canSendNow({ state, connection, answer }: ConversationSnapshot): boolean {
  if (connection.state !== 'connected' || state.agentState !== 'running') return false;
  return answer !== undefined || state.pending.some(({ source }) => source === 'agent');
}

/** Stops what runs, and lets the agent go on with the message. */
export function useSendNow(): { readonly isStopping: boolean; readonly sendNow: () => Promise<void> } {
  const { connection } = useConversationActs();
  const [isStopping, setStopping] = useState(false);
  const sendNow = async () => {
    setStopping(true);
    await readNow(connection, AbortSignal.timeout(PATIENCE_MS)).catch(() => undefined);
    setStopping(false);
  };
  return { isStopping, sendNow };
}
