/** Which moments of a conversation are worth a notification: the same in the page, and as a push to a device. */
import type { AgentState } from './agent-state.ts';
import type { Action } from './event.ts';

/**
 * `decision`: an action waits. `question`: the agent asked something. `network`: the sandbox wants to reach a host. `answered`: the agent
 * has had its say, and it is the person's turn. `finished`, `declined` and `failed`: it has ended.
 */
export type NoticeKind = 'decision' | 'question' | 'network' | 'answered' | 'finished' | 'declined' | 'failed';

/** What is worth one of a state that was just reached; `message`: the agent's last one since its user's. */
export function noticeKind(state: AgentState, message?: Action): NoticeKind | undefined {
  switch (state) {
    case 'awaiting_user_confirmation':
      return 'decision';
    case 'awaiting_user_input':
      return message && (asksPerson(message) ? 'question' : 'answered');
    case 'finished':
      return 'finished';
    case 'rejected':
      return 'declined';
    case 'error':
      return 'failed';
    default:
      return undefined;
  }
}

/** Whether something in this state is worth one, with or without a message of the agent. */
export function mayNotify(state: AgentState): boolean {
  return state === 'awaiting_user_input' || noticeKind(state) !== undefined;
}

/** Whether a message is more than a report: it offers answers, or ends with a question. */
export function asksPerson(action: Action): boolean {
  if (action.action !== 'message') return false;
  const lastLine = action.args.content.trimEnd().split('\n').at(-1)!;
  return (action.args.choices?.length ?? 0) > 0 || /[?？][\s)*_"”»]*$/.test(lastLine);
}

/** What a push holds, which only the device can read: where it leads, and no words of the agent. */
export interface PushMessage {
  readonly conversation_id: string;
  readonly title: string;
  readonly kind: NoticeKind;
  /** With the same one, a notification replaces another. */
  readonly tag: string;
}
