/** What the loop does next: a pure function of the folded log, so a restarted server takes up exactly where the log stands. */
import {
  answeredBy,
  callIndex,
  isActive,
  isRunnable,
  NullObservation,
  takeOverOf,
  type Action,
  type ActionKind,
  type AgentState,
  type LlmMetrics,
} from '@tendon/protocol';
import { CHECKS_FAILED, type EngineState } from './engine-state.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { RunnableAction } from '../sandbox/runtime.ts';
import { addedAgain, answerTo, engineError, loopDetected, loopHint, stateChanged } from './notices.ts';
import { spentOf } from './spent.ts';
import { circleOf, type Circle } from './repetition.ts';

export interface LoopLimits {
  /** Answers of the model since a person last sent or asked for something. */
  readonly maxIterations: number;
  /** US dollars for the whole conversation. */
  readonly maxBudgetUsd: number | undefined;
  /** The older part of a conversation is put into words before the model's window is full. */
  readonly condenses: boolean;
  /** Events since the last time. */
  readonly condensesAfter: number | undefined;
  /** Commands that are run before the agent's task counts as finished. */
  readonly finishChecks: readonly string[];
  /** Programs of the user are asked whether the task may be finished. */
  readonly hasStopHooks?: boolean;
}

export type NextStep =
  | { readonly do: 'rest' }
  /** A person asked for an end: everything unanswered is answered as not executed, then the state follows. */
  | { readonly do: 'settle' }
  /** Say something in the log, nothing else. */
  | { readonly do: 'announce'; readonly drafts: readonly SourcedDraft[] }
  /** The engine itself answers this action. */
  | { readonly do: 'answer'; readonly action: Action }
  | { readonly do: 'execute'; readonly action: RunnableAction }
  /** Several actions of one answer that do not wait for each other, of one kind. */
  | { readonly do: 'together'; readonly actions: readonly Action[] }
  /** Part of what the model is shown is to be put into words and forgotten. */
  | { readonly do: 'condense' }
  /** The checks before a finish are put into the log. */
  | { readonly do: 'check' }
  /** Hooks are asked before a finish. */
  | { readonly do: 'ask_to_stop' }
  /** A person has the agent's terminal: nothing is begun until this is answered. */
  | { readonly do: 'hold'; readonly id: number }
  /** The model's turn. */
  | { readonly do: 'turn' };

/** So many answers in a row that could not be understood end in state `error`. A model may call a tool that it knows from its training several times before it takes another. */
const MAX_MALFORMED = 8;

export function nextStep(state: EngineState, limits: LoopLimits): NextStep {
  const { conversation } = state;
  if (state.requested) return { do: 'settle' };
  if (state.condensation.requestedBy && conversation.pending.length === 0 && conversation.agentState !== 'paused')
    return { do: 'condense' };
  if (!isActive(conversation.agentState)) return { do: 'rest' };
  const takeOver = takeOverOf(conversation);
  if (takeOver) return { do: 'hold', id: takeOver.id };
  const [action, ...others] = pendingInOrder(conversation.pending);
  if (action) return sideBySide(action, others) ?? toCarryOut(action);
  if (state.ending === 'finished') return finishing(state.progress, limits);
  if (state.ending) return announce(state.ending);
  if (conversation.lastUserMessageId < 0) return announce('awaiting_user_input');
  return atLimit(state, limits) ?? { do: 'turn' };
}

/** Failed checks are the agent's to mend, once; with the next end they are reported, and it ends. */
const MAX_ROUNDS = 2;

/** So often a hook can send the agent back to work; then its end stands. */
const MAX_REFUSED_STOPS = 5;

function finishing(progress: EngineState['progress'], { finishChecks, hasStopHooks }: LoopLimits): NextStep {
  const checks = finishChecks.length > 0 ? checked(progress) : undefined;
  if (checks) return checks;
  return hasStopHooks && progress.refusedStops < MAX_REFUSED_STOPS ? { do: 'ask_to_stop' } : announce('finished');
}

/** Nothing when they have passed. */
function checked({ checks }: EngineState['progress']): NextStep | undefined {
  if (!checks.isOpen) return { do: 'check' };
  if (checks.failed === 0) return undefined;
  if (checks.rounds < MAX_ROUNDS) return { do: 'announce', drafts: [engineError(CHECKS_FAILED_WORDS, CHECKS_FAILED)] };
  const words = 'The agent finished the task, though checks fail: their results are above.';
  return { do: 'announce', drafts: [engineError(words, CHECKS_FAILED), stateChanged('finished')] };
}

const CHECKS_FAILED_WORDS =
  'Not finished: checks that the user wants to pass have failed; their results are above. Mend what is wrong and finish again, or finish and say why it cannot be mended.';

export function nextPending(pending: readonly Action[]): Action | undefined {
  return pendingInOrder(pending)[0];
}

/** In the order of the model's calls: a confirmed action is added again, later than those that come after it. */
export function pendingInOrder(pending: readonly Action[]): readonly Action[] {
  const own = pending.filter(({ action, source }) => source !== 'user' || !isRunnable(action));
  return own.toSorted(
    (a, b) => groupOf(a, own) - groupOf(b, own) || callIndex(a.tool_call_metadata) - callIndex(b.tool_call_metadata) || a.id - b.id,
  );
}

/** What changes nothing in the sandbox, or happens outside it. */
const SIDE_BY_SIDE: ReadonlySet<ActionKind> = new Set(['read', 'call_tool_mcp', 'delegate']);
const MAX_SIDE_BY_SIDE = 8;

/** The run of such actions, of the same kind and answer, that is next; nothing when it is one action alone. */
function sideBySide(first: Action, others: readonly Action[]): NextStep | undefined {
  const response = first.tool_call_metadata?.model_response.id;
  if (response === undefined || !SIDE_BY_SIDE.has(first.action)) return undefined;
  const all = [first, ...others];
  const end = all.findIndex(
    (each) => each.action !== first.action || each.tool_call_metadata?.model_response.id !== response || awaitsConfirmation(each),
  );
  const actions = all.slice(0, Math.min(end < 0 ? all.length : end, MAX_SIDE_BY_SIDE));
  return actions.length > 1 ? { do: 'together', actions } : undefined;
}

/** The first pending id of the same answer. */
function groupOf(action: Action, pending: readonly Action[]): number {
  const response = action.tool_call_metadata?.model_response.id;
  if (response === undefined) return action.id;
  return pending.find(({ tool_call_metadata }) => tool_call_metadata?.model_response.id === response)!.id;
}

function toCarryOut(action: Action): NextStep {
  if (awaitsConfirmation(action)) return { do: 'announce', drafts: askAgain(action) };
  return answeredBy(action.action) === 'runtime' ? { do: 'execute', action: action as RunnableAction } : { do: 'answer', action };
}

/**
 * An action that was sent long before its turn, or before a pause: frontends draw their buttons at the last thing they were sent, and
 * only when they know the state by then, so it is added again behind the state.
 */
function askAgain(action: Action): readonly SourcedDraft[] {
  const replaced = answerTo(action, NullObservation.create('', {}));
  return [stateChanged('awaiting_user_confirmation'), replaced, addedAgain(action, 'awaiting_confirmation')];
}

export function awaitsConfirmation({ args }: Action): boolean {
  return 'confirmation_state' in args && args.confirmation_state === 'awaiting_confirmation';
}

function atLimit({ metrics, progress }: EngineState, { maxIterations, maxBudgetUsd }: LoopLimits): NextStep | undefined {
  const circle = circleOf(progress.repetition);
  if (circle?.isHopeless) return halted(circle);
  if (progress.malformed >= MAX_MALFORMED)
    return failed(`The model made ${MAX_MALFORMED} calls in a row that could not be understood. Try another model, or say it differently.`);
  if (progress.turns >= maxIterations)
    return failed(`The agent took ${maxIterations} steps since your last message, which is the limit. Resume to let it go on.`);
  const over = maxBudgetUsd === undefined || !metrics ? undefined : overBudget(metrics, maxBudgetUsd);
  return over ?? (circle && !progress.hinted ? { do: 'announce', drafts: [loopHint(circle.words)] } : undefined);
}

function overBudget(metrics: LlmMetrics, maxBudgetUsd: number): NextStep | undefined {
  if (spentOf(metrics) < maxBudgetUsd) return undefined;
  const { accumulated_cost: cost, unpriced_tokens: tokens = 0 } = metrics;
  const budget = `its budget is $${maxBudgetUsd.toFixed(2)}`;
  if (tokens === 0) return failed(`The conversation has cost $${cost.toFixed(2)}; ${budget}. Raise the budget to go on.`);
  const counted = `The price of its model is not known, so a million tokens count as a dollar: it has used ${tokens} tokens`;
  const priced = cost > 0 ? ` and $${cost.toFixed(2)}` : '';
  return failed(`${counted}${priced}; ${budget}. Raise the budget to go on.`);
}

function halted({ words }: Circle): NextStep {
  const reason = `The agent ${words}, so it was halted. Say how to go on, or resume.`;
  return {
    do: 'announce',
    drafts: [loopDetected(words), engineError(reason, 'AGENT_ERROR$LOOP_DETECTED'), stateChanged('awaiting_user_input')],
  };
}

function failed(words: string): NextStep {
  return { do: 'announce', drafts: [stateChanged('error', { reason: words })] };
}

function announce(state: AgentState): NextStep {
  return { do: 'announce', drafts: [stateChanged(state)] };
}
