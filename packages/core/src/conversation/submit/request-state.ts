import {
  AGENT_STATES,
  canRequest,
  catalogError,
  ChangeAgentStateAction,
  type AgentState,
  type CatalogError,
  NullObservation,
} from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { stateChanged, answerTo, notice, addedAgain } from '../../engine/notices.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import { awaitsConfirmation, nextPending } from '../../engine/next-step.ts';

export interface StateRequest {
  readonly to: AgentState;
  /** The user's reason. */
  readonly thought?: string;
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
  ports: Pick<LoopPorts, 'folded' | 'sandbox' | 'aborts'>,
  { to: verdict, thought }: VerdictRequest,
): Promise<Decision | CatalogError> {
  const refusal = refuse(ports.folded.state.conversation.agentState, verdict);
  if (refusal) return refusal;
  if (verdict === 'user_rejected') return { decide: (state) => decided(state, { to: verdict, thought }, undefined) };
  // A confirmed action needs a destination before it is in the log as confirmed.
  const acquired = await ports.sandbox.acquire(ports.aborts.closing);
  if (!acquired.ok) return catalogError('RUNTIME_FAILED', acquired.reason);
  const { incarnation } = acquired.runtime;
  return { decide: (state) => decided(state, { to: verdict, thought }, incarnation) };
}

function decided(state: EngineState, request: VerdictRequest, executor: string | undefined): readonly SourcedDraft[] | CatalogError {
  const { to: verdict } = request;
  const { agentState, nextId, pending } = state.conversation;
  const refusal = refuse(agentState, verdict);
  if (refusal) return refusal;
  const waiting = nextPending(pending);
  if (!waiting || !awaitsConfirmation(waiting)) return catalogError('ILLEGAL_STATE', 'no action waits for confirmation');
  const lead = [asRequest(request), answerTo(waiting, NullObservation.create('', {}))];
  if (verdict === 'user_confirmed') {
    return [...lead, addedAgain(waiting, 'confirmed', executor), stateChanged('user_confirmed'), stateChanged('running')];
  }
  const rest = pending.filter((action) => action.source === 'agent' && action.id !== waiting.id);
  return [
    ...lead,
    addedAgain(waiting, 'rejected'),
    stateChanged('user_rejected'),
    answerTo({ ...waiting, id: nextId + lead.length }, notice.rejected),
    ...rest.map((action) => answerTo(action, notice.afterRejection)),
    stateChanged('awaiting_user_input'),
  ];
}
