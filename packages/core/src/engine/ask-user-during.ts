import { isAction, MessageAction, type Action } from '@tendon/protocol';
import { stateChanged } from './notices.ts';
import type { LogPorts } from './ports.ts';
import type { AskUser } from './host-capabilities.ts';

/**
 * Asks the user in the middle of an action, as the agent asks, and waits for their next message. The question names the action as its
 * cause: to the model it is a part of the call, whose result is still to come.
 */
export async function askUserDuring(
  { log, folded }: Pick<LogPorts, 'log' | 'folded'>,
  { id }: Action,
  { content, choices }: Parameters<AskUser>[0],
  signal: AbortSignal,
): Promise<string | undefined> {
  const [question] = await folded.append(({ conversation: { agentState, pending }, requested }) => {
    const isDue = !requested && agentState === 'running' && pending.some((action) => action.id === id);
    const message = MessageAction.create({ content, wait_for_response: true, choices: [...choices] });
    return isDue && !signal.aborted ? [{ ...message, source: 'agent', cause: id }, stateChanged('awaiting_user_input')] : [];
  });
  if (!question) return undefined;
  for await (const event of log.follow(question.id + 1, { signal })) {
    if (isAction(event) && event.source === 'user' && event.action === 'message') return event.args.content;
  }
  await folded.append(({ conversation: { agentState, pending }, requested }) =>
    !requested && agentState === 'awaiting_user_input' && pending.some((action) => action.id === id) ? [stateChanged('running')] : [],
  );
  return undefined;
}
