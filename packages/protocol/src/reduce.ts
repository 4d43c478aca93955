/**
 * What folding events gives. Importable without zod: the web app folds the same log with the same code.
 *
 * Invariants
 * RE1  `nextId` is the id of the last folded event plus one.
 * RE2  `agentState` moves only with `agent_state_changed`.
 * RE3  An action is pending from its append until an observation names it as `cause`; nothing else ends it.
 */
import { type AgentState } from './agent-state.ts';
import { answeredBy } from './answered-by.ts';
import { isAction, isObservation, type Action, type Event, type LlmMetrics } from './event.ts';

export interface ConversationState {
  readonly nextId: number;
  readonly agentState: AgentState;
  /** Why, with `error` and `rate_limited`; else empty. */
  readonly reason: string;
  /** With `rate_limited`: when the next attempt is made, UTC ISO 8601. */
  readonly resumesAt: string | undefined;
  /** Actions that somebody must answer and nobody has, oldest first. */
  readonly pending: readonly Action[];
  /** Of the last `message` from the user, −1 before the first. */
  readonly lastUserMessageId: number;
  /** Of the last event of the agent's own (an answer of the model), −1 before the first. */
  readonly lastAgentEventId: number;
  readonly metrics: LlmMetrics | undefined;
}

export const INITIAL_STATE: ConversationState = Object.freeze({
  nextId: 0,
  agentState: 'loading',
  reason: '',
  resumesAt: undefined,
  pending: Object.freeze([]),
  lastUserMessageId: -1,
  lastAgentEventId: -1,
  metrics: undefined,
});

/** Folds one event. Total: unknown kinds and events out of order only move `nextId`. */
export function reduce(state: ConversationState, event: Event): ConversationState {
  const before = { ...state, nextId: event.id + 1 };
  if (isAction(event)) return reduceAction(before, event);
  if (!isObservation(event)) return before;
  // What was delegated, and an answer that could not be understood, have their cost on an observation.
  const next = event.llm_metrics ? { ...before, metrics: event.llm_metrics } : before;
  const pending = event.cause === undefined ? next.pending : next.pending.filter((action) => action.id !== event.cause);
  if (event.observation !== 'agent_state_changed') return { ...next, pending };
  return { ...next, pending, agentState: event.extras.agent_state, reason: event.extras.reason, resumesAt: event.extras.resumes_at };
}

function reduceAction(state: ConversationState, action: Action): ConversationState {
  const pending = answeredBy(action.action) === 'none' ? state.pending : [...state.pending, action];
  const metrics = action.llm_metrics ?? state.metrics;
  if (action.source === 'user') {
    const isMessage = action.action === 'message' || action.action === 'start';
    return { ...state, pending, metrics, ...(isMessage && { lastUserMessageId: action.id }) };
  }
  if (action.source !== 'agent' || action.action === 'system') return { ...state, pending, metrics };
  return { ...state, pending, metrics, lastAgentEventId: action.id };
}

/** The action by which a person has the agent's terminal now; until it is answered the agent begins nothing. */
export function takeOverOf({ pending }: Pick<ConversationState, 'pending'>): Action<'run'> | undefined {
  return pending.find(isTakeOver);
}

function isTakeOver(action: Action): action is Action<'run'> {
  return action.action === 'run' && action.source === 'user' && action.args.take_over === true;
}
