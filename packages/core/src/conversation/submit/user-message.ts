import {
  catalogError,
  isActive,
  MessageAction,
  NullObservation,
  RecallAction,
  type ActionDraft,
  type CatalogError,
} from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { recall } from '../../loop/answer-core.ts';
import { answerTo, stateChanged } from '../../loop/notices.ts';
import type { EngineState } from '../engine-state.ts';

/** Enough of a message to look things up by. */
const MAX_QUERY_CHARS = 1000;

/**
 * A message with what is recalled for it, as one commit. It begins or goes on with the task; while the agent works it only steers,
 * and while an action waits for a person's word the state stays.
 */
export function userMessage(action: ActionDraft, now: Date): (state: EngineState) => readonly SourcedDraft[] | CatalogError {
  if (action.action === 'recall')
    return ({ conversation: { nextId } }) => recallFor(action.args.query, action.args.recall_type, nextId, now);
  const message = toMessage(action);
  if (!message) return () => catalogError('INVALID_ARGUMENTS', 'content: a message needs text, an image or a file');
  return ({ conversation: { agentState, lastUserMessageId, nextId } }) => {
    const type = lastUserMessageId < 0 ? 'workspace_context' : 'knowledge';
    const [asked, ...answer] = recallFor(message.args.content.slice(0, MAX_QUERY_CHARS), type, nextId + 1, now);
    const wakes = !isActive(agentState) && agentState !== 'awaiting_user_confirmation';
    return [{ source: 'user', ...message }, asked!, ...(wakes ? [stateChanged('running')] : []), ...answer];
  };
}

function toMessage(action: ActionDraft): ReturnType<typeof MessageAction.create> | undefined {
  if (action.action === 'start') return MessageAction.create({ content: action.args.task });
  if (action.action !== 'message') return undefined;
  const { content, image_urls, file_urls } = action.args;
  if (content.trim() === '' && !image_urls?.length && !file_urls?.length) return undefined;
  return MessageAction.create({ content, image_urls, file_urls });
}

/** The action and its observation; a look-up by trigger words that found nothing answers with nothing. */
function recallFor(query: string, recall_type: Parameters<typeof recall>[0], id: number, now: Date): readonly SourcedDraft[] {
  const found = recall_type === 'knowledge' ? NullObservation.create('', {}) : recall(recall_type, now);
  return [
    { source: 'user', ...RecallAction.create({ recall_type, query }) },
    { ...answerTo({ id, source: 'environment' }, found), source: 'environment' },
  ];
}
