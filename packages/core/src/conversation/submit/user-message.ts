import { catalogError, isActive, MessageAction, RecallAction, type ActionDraft, type CatalogError } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { recall } from '../../engine/answer-core.ts';
import type { Engine } from '../../engine/engine.ts';
import { answerTo, stateChanged } from '../../engine/notices.ts';
import type { EngineState } from '../../engine/engine-state.ts';

/** Enough of a message to look things up by. */
const MAX_QUERY_CHARS = 16 * 1024;

/**
 * A message with what is recalled for it. It begins or goes on with the task; while the agent works it only steers, and while an action
 * waits for a person's word the state stays. The recall is answered in the same commit when everything is known already or the agent
 * waits; else the loop answers it, so that the message itself never waits for a sandbox.
 */
export function userMessage(engine: Engine, action: ActionDraft): (state: EngineState) => readonly SourcedDraft[] | CatalogError {
  const message = toMessage(action);
  if (!message) return () => catalogError('INVALID_ARGUMENTS', 'content: a message needs text, an image or a file');
  const query = message.args.content.slice(0, MAX_QUERY_CHARS);
  return ({ conversation: { agentState, lastUserMessageId, nextId }, told, missed }) => {
    const recall_type = lastUserMessageId < 0 || missed?.context ? 'workspace_context' : 'knowledge';
    const { known } = engine.library;
    const asked = RecallAction.create({ recall_type, query });
    const found = recall(asked.args, { now: engine.clock.now(), known, told, missed });
    const answer = answerTo({ id: nextId + 1, source: 'environment' }, found);
    const waits = agentState === 'awaiting_user_confirmation';
    return [
      { source: 'user', ...message },
      { source: 'user', ...asked },
      ...(isActive(agentState) || waits ? [] : [stateChanged('running')]),
      ...(known.missing === undefined || waits ? [answer] : []),
    ];
  };
}

function toMessage(action: ActionDraft): ReturnType<typeof MessageAction.create> | undefined {
  if (action.action === 'start') return MessageAction.create({ content: action.args.task });
  if (action.action !== 'message') return undefined;
  const { content, image_urls, file_urls } = action.args;
  if (content.trim() === '' && !image_urls?.length && !file_urls?.length) return undefined;
  return MessageAction.create({ content, image_urls, file_urls });
}
