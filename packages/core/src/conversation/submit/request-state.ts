import {
  AGENT_STATES,
  canRequest,
  catalogError,
  ChangeAgentStateAction,
  type AgentState,
  type CatalogError,
  type ObservationDraft,
  NullObservation,
  type Action,
} from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { stateChanged, answerTo, changedByUser, notice, addedAgain, rejectedBecause, undecided } from '../../engine/notices.ts';
import { askBeforeAction, type HookedAction } from '../../engine/hooks.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import { awaitsConfirmation, nextPending } from '../../engine/next-step.ts';

export interface StateRequest {
  readonly to: AgentState;
  /** The user's reason. */
  readonly thought?: string;
  /** What the user put in place of the command that waits. */
  readonly edited?: string;
  /** The action that they were shown; without it, whichever waits when they are heard. */
  readonly about?: number | undefined;
}

/** A person asks for a state. What needs work to carry out (stop, finish) is only recorded here; the loop grants it. */
export function requestState(
  { conversation: { agentState } }: EngineState,
  { to, thought }: StateRequest,
): readonly SourcedDraft[] | CatalogError {
  const refusal = refuse(agentState, to);
  if (refusal) return refusal;
  const asked = asRequest({ to, thought });
  return to === 'stopped' || to === 'finished' ? [asked] : [asked, stateChanged(to)];
}

function asRequest({ to, thought = '' }: StateRequest): SourcedDraft {
  return { source: 'user', ...ChangeAgentStateAction.create({ agent_state: to, thought }) };
}

function refuse(from: AgentState, to: AgentState): CatalogError | undefined {
  if (canRequest(from, to)) return undefined;
  if (!AGENT_STATES.some((state) => canRequest(state, to))) return catalogError('UNKNOWN_STATE', to);
  return catalogError('ILLEGAL_STATE', `its state is ${from}, from which ${to} cannot be asked for`);
}

type VerdictRequest = StateRequest & { readonly to: 'user_confirmed' | 'user_rejected' };
type Decision = { readonly decide: (state: EngineState) => readonly SourcedDraft[] | CatalogError };

/** A person's verdict on the action that waits: it is added again with a new id, and the waiting one is answered with nothing. */
export async function decideConfirmation(
  ports: Pick<LoopPorts, 'folded' | 'sandbox' | 'aborts' | 'hooks' | 'policy'>,
  request: VerdictRequest,
): Promise<Decision | CatalogError> {
  const { folded, sandbox, aborts, policy } = ports;
  const refusal = refuse(folded.state.conversation.agentState, request.to);
  if (refusal) return refusal;
  // Of what a person looked at: until there is a sandbox, somebody else may decide, and another action wait.
  const waiting = waitingAction(folded.state);
  if (waiting && request.about !== undefined && waiting.id !== request.about) return otherWaits();
  if (request.to === 'user_rejected') return { decide: (state) => decided(state, waiting?.id, request, undefined) };
  // A confirmed action needs a destination before it is in the log as confirmed.
  const acquired = await sandbox.acquire(aborts.closing);
  if (!acquired.ok) return catalogError('RUNTIME_FAILED', acquired.reason);
  const edited = waiting && withEdit(waiting, request.edited);
  const hooked = edited && edited !== waiting ? await askBeforeAction(ports, edited, aborts.closing) : undefined;
  // A hook that was ended meanwhile blocks nothing.
  if (aborts.closing.aborted) return catalogError('ILLEGAL_STATE', 'the conversation is closed');
  const approval = { executor: acquired.runtime.incarnation, policy, hooked };
  return { decide: (state) => decided(state, waiting?.id, request, approval) };
}

function otherWaits(): CatalogError {
  return catalogError('ILLEGAL_STATE', 'another action waits by now; look at it first');
}

/** What an action that was changed is held to, and where it runs. */
interface Approval {
  readonly executor: string;
  readonly policy: LoopPorts['policy'];
  readonly hooked: HookedAction | undefined;
}

type Decided = readonly SourcedDraft[] | CatalogError;

function decided(state: EngineState, about: number | undefined, request: VerdictRequest, approval: Approval | undefined): Decided {
  const refusal = refuse(state.conversation.agentState, request.to);
  if (refusal) return refusal;
  const waiting = waitingAction(state);
  if (waiting && waiting.id !== about) return otherWaits();
  if (!waiting) return catalogError('ILLEGAL_STATE', 'no action waits for confirmation');
  const lead = [asRequest(request), answerTo(waiting, NullObservation.create('', {}))];
  if (approval) {
    const added = approved(state, waiting, request.edited, approval);
    return 'code' in added ? added : [...lead, ...added, stateChanged('user_confirmed'), stateChanged('running')];
  }
  const next = request.thought?.trim() ? 'running' : 'awaiting_user_input';
  return rejected(state, waiting, { lead, answer: rejectedBecause(request.thought), next });
}

/** What a person wrote in its place is theirs to approve, and yet neither lifts a rule nor goes past a hook. */
function approved({ shell }: EngineState, waiting: Action, edited: string | undefined, { executor, policy, hooked }: Approval): Decided {
  const action = withEdit(waiting, edited);
  if (!action) return catalogError('INVALID_ARGUMENTS', 'edited: only a command and a cell can be changed');
  if (action === waiting) return [addedAgain(waiting, 'confirmed', executor)];
  const folder = shell?.executor === executor ? shell.folder : undefined;
  const { decision, reason, risk = -1 } = policy(action, { folder, hook: hooked?.verdict, isAttended: true });
  if (decision === 'deny') return catalogError('EDIT_DENIED', reason);
  const judged = { ...action, args: { ...action.args, security_risk: risk } } as Action;
  return [changedByUser(edited!), ...(hooked?.notices ?? []), addedAgain(judged, 'confirmed', executor)];
}

/** Nobody decided about that action in time; nothing when it no longer waits. The agent goes on with the reason. */
export function expire(state: EngineState, id: number, deadlineMs: number): readonly SourcedDraft[] {
  const waiting = waitingAction(state);
  if (waiting?.id !== id) return [];
  const lead = [answerTo(waiting, NullObservation.create('', {}))];
  return rejected(state, waiting, { lead, answer: undecided(deadlineMs), next: 'running' });
}

/** The action about which a person is asked now. */
export function waitingAction({ conversation: { agentState, pending } }: EngineState): Action | undefined {
  const action = agentState === 'awaiting_user_confirmation' ? nextPending(pending) : undefined;
  return action && awaitsConfirmation(action) ? action : undefined;
}

interface Rejection {
  readonly lead: readonly SourcedDraft[];
  readonly answer: ObservationDraft;
  /** A reason is a word to go on with; without one the agent waits for it. */
  readonly next: AgentState;
}

function rejected({ conversation }: EngineState, waiting: Action, { lead, answer, next }: Rejection): readonly SourcedDraft[] {
  const rest = conversation.pending.filter((action) => action.source === 'agent' && action.id !== waiting.id);
  return [
    ...lead,
    addedAgain(waiting, 'rejected'),
    stateChanged('user_rejected'),
    answerTo({ ...waiting, id: conversation.nextId + lead.length }, answer),
    ...rest.map((action) => answerTo(action, notice.afterRejection)),
    stateChanged(next),
  ];
}

/** The action as the user changed it; undefined where it is of a kind that has no text to change. */
function withEdit(action: Action, edited: string | undefined): Action | undefined {
  if (edited === undefined) return action;
  if (action.action === 'run') return action.args.command === edited ? action : { ...action, args: { ...action.args, command: edited } };
  if (action.action === 'run_ipython') return action.args.code === edited ? action : { ...action, args: { ...action.args, code: edited } };
  return undefined;
}
