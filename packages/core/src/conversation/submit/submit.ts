/** A client's action: checked against the state, appended, answered with the event or a catalogued error. */
import {
  catalogError,
  isActive,
  MessageAction,
  RecallAction,
  type ActionDraft,
  type ActionKind,
  type AgentState,
  type CatalogError,
  type ParsedAction,
} from '@tendon/protocol';
import { failureFor } from '../../log/storage-error.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import type { SubmitResult } from '../conversation.ts';
import { answerAgain, appendOnce } from './append-once.ts';
import { decideConfirmation, requestState, type StateRequest } from './request-state.ts';
import { recoverFromLoop } from './recover-from-loop.ts';
import { revise } from './revise-condensation.ts';
import { restoreForUser } from './restore-for-user.ts';
import { runForUser } from './run-for-user.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { recall } from '../../engine/answer-core.ts';
import { answerTo, stateChanged } from '../../engine/notices.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { searchMessages } from '../../knowledge/search-messages.ts';
import type { Decide } from '../../engine/folded-log.ts';

/** How each kind is taken when a client sends it. A new kind does not compile before it stands here. */
const HANDLING = {
  null: 'refuse',
  initialize: 'refuse',
  start: 'message',
  pause: 'paused',
  resume: 'running',
  stop: 'stopped',
  push: 'refuse',
  send_pr: 'refuse',
  call_tool_mcp: 'refuse',
  run: 'run',
  kill: 'run',
  run_ipython: 'run',
  read: 'run',
  write: 'run',
  edit: 'run',
  browse: 'run',
  browse_interactive: 'run',
  message: 'message',
  system: 'refuse',
  change_agent_state: 'request',
  think: 'refuse',
  finish: 'finished',
  reject: 'refuse',
  delegate: 'refuse',
  recall: 'recall',
  summarize: 'refuse',
  condensation: 'revise',
  condensation_request: 'condense',
  task_tracking: 'refuse',
  loop_recovery: 'recover',
  restore_checkpoint: 'restore',
  add_task: 'refuse',
  modify_task: 'refuse',
} as const satisfies Record<
  ActionKind,
  'message' | 'request' | 'run' | 'recall' | 'condense' | 'revise' | 'recover' | 'restore' | 'refuse' | AgentState
>;

/** Never rejects. */
export async function submit(ports: LoopPorts, given: ParsedAction, about?: number): Promise<SubmitResult> {
  if (ports.aborts.closing.aborted) return refused(catalogError('ILLEGAL_STATE', 'the conversation is closed'));
  const action = maskId(ports, given);
  try {
    return (await answerAgain(ports, action)) ?? (await handle(ports, action, about));
  } catch (error) {
    ports.report(error);
    return refused(failureFor(error));
  }
}

async function handle(ports: LoopPorts, action: ActionDraft, about: number | undefined): Promise<SubmitResult> {
  const handling = HANDLING[action.action];
  switch (handling) {
    case 'refuse':
      return refused(
        action.action === 'initialize'
          ? catalogError('ILLEGAL_STATE', 'it is initialized')
          : catalogError('NOT_FOR_CLIENTS', action.action),
      );
    case 'run':
      return runForUser(ports, action);
    case 'restore':
      return restoreForUser(ports, action as ActionDraft<'restore_checkpoint'>);
    case 'message':
      return appendOnce(ports, action, userMessage(ports, action, about));
    case 'recall':
      return appendOnce(ports, action, await userRecall(ports, action as ActionDraft<'recall'>));
    case 'condense':
      return appendOnce(ports, action, () => [{ ...action, source: 'user' }]);
    case 'revise':
      return appendOnce(ports, action, (state) => revise(state, action as ActionDraft<'condensation'>));
    case 'recover':
      return appendOnce(ports, action, (state) => recoverFromLoop(state, action as ActionDraft<'loop_recovery'>));
    case 'request':
      return request(ports, action, action.action === 'change_agent_state' ? { ...requestOf(action), about } : { to: 'stopped' });
    default:
      return request(ports, action, action.action === 'finish' ? { to: handling, thought: wordsOf(action) } : { to: handling });
  }
}

function requestOf({ args: { agent_state, thought, edited } }: ActionDraft<'change_agent_state'>): StateRequest {
  return { to: agent_state, thought, ...(edited !== undefined && { edited }) };
}

/** A user's `finish` requests the state `finished`; its text is the reason. */
function wordsOf({ args: { final_thought, thought } }: ActionDraft<'finish'>): string {
  return final_thought || thought;
}

async function request(ports: LoopPorts, action: ActionDraft, { to, thought, edited, about }: StateRequest): Promise<SubmitResult> {
  if (to === 'user_confirmed' || to === 'user_rejected') {
    const decision = await decideConfirmation(ports, { to, thought, about, ...(edited !== undefined && { edited }) });
    return 'code' in decision ? refused(decision) : appendOnce(ports, action, decision.decide);
  }
  const from = ports.folded.state.conversation.agentState;
  const result = await appendOnce(ports, action, (state) => requestState(state, { to, thought }));
  if (!result.ok || result.isRepeated) return result;
  // A resumed wait for the provider is cut short; everything else than going on ends the model call.
  if (to !== 'running' || from === 'rate_limited') ports.aborts.endTurn();
  if (to === 'stopped' || to === 'finished') ports.aborts.cancelActions();
  return result;
}

/** As it will stand in the log. */
function maskId({ mask }: Pick<LoopPorts, 'mask'>, action: ActionDraft): ActionDraft {
  return action.client_id === undefined ? action : { ...action, client_id: mask.text(action.client_id) };
}

function refused(error: CatalogError): SubmitResult {
  return { ok: false, error };
}

/** Enough of a message to look things up by. */
const MAX_QUERY_CHARS = 16 * 1024;

/**
 * A message with what is recalled for it. It begins or goes on with the task; while the agent works it only steers, and while an action
 * waits for a person's word the state stays. The recall is answered in the same commit when everything is known already or the agent
 * waits; else the loop answers it, so that the message itself never waits for a sandbox.
 */
function userMessage(
  { library, clock }: Pick<LoopPorts, 'library' | 'clock'>,
  action: ActionDraft,
  about: number | undefined,
): (state: EngineState) => readonly SourcedDraft[] | CatalogError {
  const message = toMessage(action);
  if (!message) return () => catalogError('INVALID_ARGUMENTS', 'content: a message needs text, an image or a file');
  const query = message.args.content.slice(0, MAX_QUERY_CHARS);
  return ({ conversation: { agentState, lastUserMessageId, nextId }, context: { shownMicroagents, missed } }) => {
    if (about !== undefined && (agentState !== 'awaiting_user_input' || lastUserMessageId > about))
      return catalogError('ILLEGAL_STATE', 'that was answered already');
    const recall_type = lastUserMessageId < 0 || missed?.context ? 'workspace_context' : 'knowledge';
    const { known } = library;
    const asked = RecallAction.create({ recall_type, query });
    const found = recall(asked.args, { now: clock.now(), known, shownMicroagents, missed });
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

/** A person's own question to the memory and its answer, as one commit: it neither wakes the agent nor waits for it. */
async function userRecall(
  { log, library, clock }: Pick<LoopPorts, 'log' | 'library' | 'clock'>,
  { args }: ActionDraft<'recall'>,
): Promise<Decide> {
  const hits = await searchMessages(log, args.query);
  const known = await library.load();
  return ({ conversation: { nextId }, context: { shownMicroagents, missed } }): readonly SourcedDraft[] => {
    const found = recall(args, { now: clock.now(), known, shownMicroagents, missed, hits });
    return [
      { source: 'user', ...RecallAction.create(args) },
      { ...answerTo({ id: nextId, source: 'environment' }, found), source: 'environment' },
    ];
  };
}
