import { AGENT_STATES, canRequest, catalogError, ChangeAgentStateAction, type AgentState, type CatalogError } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { stateChanged } from '../../engine/notices.ts';
import type { EngineState } from '../../engine/engine-state.ts';

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

export function asRequest({ to, thought = '' }: StateRequest): SourcedDraft {
  return { source: 'user', ...ChangeAgentStateAction.create({ agent_state: to, thought }) };
}

export function refuse(from: AgentState, to: AgentState): CatalogError | undefined {
  if (canRequest(from, to)) return undefined;
  if (!AGENT_STATES.some((state) => canRequest(state, to))) return catalogError('UNKNOWN_STATE', to);
  return catalogError('ILLEGAL_STATE', `its state is ${from}, from which ${to} cannot be asked for`);
}
