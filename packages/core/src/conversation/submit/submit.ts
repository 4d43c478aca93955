/** A client's action: checked against the state, appended, answered with the event or a catalogued error. */
import { catalogError, type ActionDraft, type ActionKind, type AgentState, type CatalogError, type ParsedAction } from '@tendon/protocol';
import { failureFor } from '../../log/storage-failure.ts';
import type { Engine } from '../../engine/engine.ts';
import type { SubmitResult } from '../conversation.ts';
import { answerAgain, appendOnce } from './append-once.ts';
import { decideConfirmation } from './decide-confirmation.ts';
import { requestState, type StateRequest } from './request-state.ts';
import { runForUser } from './run-for-user.ts';
import { userMessage } from './user-message.ts';
import { userRecall } from './user-recall.ts';

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
  condensation: 'refuse',
  condensation_request: 'condense',
  task_tracking: 'refuse',
  loop_recovery: 'refuse',
  add_task: 'refuse',
  modify_task: 'refuse',
} as const satisfies Record<ActionKind, 'message' | 'request' | 'run' | 'recall' | 'condense' | 'refuse' | AgentState>;

/** Never rejects. */
export async function submit(engine: Engine, given: ParsedAction): Promise<SubmitResult> {
  if (engine.aborts.closing.aborted) return refused(catalogError('ILLEGAL_STATE', 'the conversation is closed'));
  const action = maskId(engine, given);
  try {
    return (await answerAgain(engine, action)) ?? (await handle(engine, action));
  } catch (error) {
    engine.report(error);
    return refused(failureFor(error));
  }
}

async function handle(engine: Engine, action: ActionDraft): Promise<SubmitResult> {
  const handling = HANDLING[action.action];
  switch (handling) {
    case 'refuse':
      return refused(
        action.action === 'initialize'
          ? catalogError('ILLEGAL_STATE', 'it is initialized')
          : catalogError('NOT_FOR_CLIENTS', action.action),
      );
    case 'run':
      return runForUser(engine, action);
    case 'message':
      return appendOnce(engine, action, userMessage(engine, action));
    case 'recall':
      return appendOnce(engine, action, await userRecall(engine, action as ActionDraft<'recall'>));
    case 'condense':
      return appendOnce(engine, action, () => [{ ...action, source: 'user' }]);
    case 'request':
      return request(engine, action, action.action === 'change_agent_state' ? requestOf(action) : { to: 'stopped' });
    default:
      return request(engine, action, action.action === 'finish' ? { to: handling, thought: wordsOf(action) } : { to: handling });
  }
}

function requestOf({ args: { agent_state, thought } }: ActionDraft<'change_agent_state'>): StateRequest {
  return { to: agent_state, thought };
}

/** A user's `finish` requests the state `finished`; its text is the reason. */
function wordsOf({ args: { final_thought, thought } }: ActionDraft<'finish'>): string {
  return final_thought || thought;
}

async function request(engine: Engine, action: ActionDraft, { to, thought }: StateRequest): Promise<SubmitResult> {
  if (to === 'user_confirmed' || to === 'user_rejected') {
    const decision = await decideConfirmation(engine, { to, thought });
    return 'code' in decision ? refused(decision) : appendOnce(engine, action, decision.decide);
  }
  const from = engine.folded.state.conversation.agentState;
  const result = await appendOnce(engine, action, (state) => requestState(state, { to, thought }));
  if (!result.ok || result.isRepeated) return result;
  // A resumed wait for the provider is cut short; everything else than going on ends the model call.
  if (to !== 'running' || from === 'rate_limited') engine.aborts.endTurn();
  if (to === 'stopped' || to === 'finished') engine.aborts.cancelActions();
  return result;
}

/** As it will stand in the log. */
function maskId({ mask }: Engine, action: ActionDraft): ActionDraft {
  return action.client_id === undefined ? action : { ...action, client_id: mask.text(action.client_id) };
}

function refused(error: CatalogError): SubmitResult {
  return { ok: false, error };
}
