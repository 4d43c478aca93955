import type { ConversationInfo } from '@tendon/client';
import { parseAgentState } from '@tendon/protocol';
import { stateSentence, type StateSentence } from './state-sentence.ts';

/** The sentence of a row in a list: the agent's state where the server tells it, else what the status says. */
export function conversationSentence(info: ConversationInfo): StateSentence {
  const state = parseAgentState(info.agent_state);
  if (state) return stateSentence({ state, reason: info.reason ?? '' });
  switch (info.status) {
    case 'STARTING':
      return stateSentence({ state: 'loading' });
    case 'RUNNING':
      return { glyph: 'dot', text: 'Open' };
    case 'ERROR':
      return stateSentence({ state: 'error' });
    case 'STOPPED':
    case 'ARCHIVED':
      return { glyph: 'held', text: 'At rest' };
  }
}

export function isWaiting(info: ConversationInfo): boolean {
  const state = parseAgentState(info.agent_state);
  return state === 'awaiting_user_input' || state === 'awaiting_user_confirmation';
}

export function isRunningNow(info: ConversationInfo): boolean {
  return conversationSentence(info).glyph === 'running';
}
