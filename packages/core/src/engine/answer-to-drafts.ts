/** The model's answer as events: one batch, in the order of the calls. Pure. */
import {
  answeredBy,
  isRunnable,
  MessageAction,
  withAnswerReference,
  type ActionDraft,
  type AnswerReasoning,
  type ActionKind,
  type AgentState,
  type LlmMetrics,
  type ModelResponse,
  type ObservationDraft,
  type ToolCallMetadata,
} from '@tendon/protocol';
import type { LlmAnswer, LlmToolCall } from '../llm/llm-provider.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { EngineState } from './engine-state.ts';
import type { ConfirmationPolicy, HookVerdict, Verdict } from '../policy/confirmation-policy.ts';
import type { Risk } from '../policy/risk.ts';
import { parseToolCall } from '../tools/parse-tool-call.ts';
import type { Tool, ToolCallResult } from '../tools/define-tool.ts';
import { answerTo, denied, malformedCall, notice, notStarted, stateChanged } from './notices.ts';

export interface ParsedAnswer {
  readonly answer: LlmAnswer;
  /** One for each tool call, in order. */
  readonly calls: readonly ToolCallResult[];
}

/** Where the actions will run: stamped on each of them; or why they cannot. Undefined when none of them runs in a sandbox. */
export type Destination = { readonly executor: string } | { readonly failure: string } | undefined;

/** What decides whether a call waits for a person. */
interface CallJudgments {
  readonly policy: ConfirmationPolicy;
  /** What hooks say of each call; default: nothing. */
  readonly verdicts?: readonly (HookVerdict | undefined)[];
  /** What an analyzer made of each call that depends on it; default: none was asked. */
  readonly risks?: readonly (Risk | undefined)[];
}

export interface AnswerContext extends CallJudgments {
  readonly firstId: number;
  /** Where the agent's shell stood after its last command, and of which executor it is. */
  readonly shell: EngineState['shell'];
  readonly destination: Destination;
  /** The user has written since the request: the task cannot end with an answer that did not see it. */
  readonly steered: boolean;
  readonly metrics: LlmMetrics;
  readonly now: Date;
  /** There are checks to run, or hooks to ask, before the task counts as finished: the loop grants that end. */
  readonly hasChecks?: boolean;
}

/**
 * A cut answer's calls are never carried out: what is missing may change their meaning. Of an answer with more than 64 calls only the
 * first is stored, to be refused: a runaway model or a hostile endpoint costs the log one event.
 */
export function parseAnswer(given: LlmAnswer, tools: readonly Tool[]): ParsedAnswer {
  if (given.toolCalls.length > MAX_CALLS) return refusedAnswer(given);
  const answer = { ...given, toolCalls: withUniqueIds(given.toolCalls) };
  const cut = answer.finishReason === 'length';
  const calls = answer.toolCalls.map((call): ToolCallResult => {
    if (cut) return { ok: false, error: 'Not carried out: the answer was cut off at its length limit. Send it again, in smaller parts.' };
    return parseToolCall(call, tools);
  });
  return { answer, calls };
}

const MAX_CALLS = 64;

function refusedAnswer(given: LlmAnswer): ParsedAnswer {
  const made = given.toolCalls.length;
  const error = `Not carried out, not one of them: the answer made ${made} calls, and one answer may make ${MAX_CALLS}. Send fewer.`;
  return { answer: { ...given, toolCalls: withUniqueIds(given.toolCalls.slice(0, 1)) }, calls: [{ ok: false, error }] };
}

/** Within one answer; some servers give no ids, or the same. */
function withUniqueIds(calls: readonly LlmToolCall[]): readonly LlmToolCall[] {
  const used = new Set<string>();
  return calls.map((call, index) => {
    const id = call.id === '' || used.has(call.id) ? `${call.id || 'call'}_${index}` : call.id;
    used.add(id);
    return { ...call, id };
  });
}

export function needsSandbox({ calls }: ParsedAnswer): boolean {
  return calls.some((call) => call.ok && isRunnable(call.action.action));
}

export function answerToDrafts({ answer, calls }: ParsedAnswer, context: AnswerContext): readonly SourcedDraft[] {
  if (calls.length === 0) return charged(inWords(answer.text, context.steered), answer, context.metrics);
  const model_response = toModelResponse(answer, context.now);
  const sound = calls.every(({ ok }) => ok) && failureOf(context.destination) === undefined;
  const drafts: SourcedDraft[] = [];
  let ended: AgentState | undefined;
  let waiting = false;
  let folder = folderOf(context);
  for (const [index, call] of calls.entries()) {
    const { id, name } = answer.toolCalls[index]!;
    const whole = { function_name: name, tool_call_id: id, model_response, total_calls_in_response: calls.length };
    const metadata = index === 0 ? whole : withAnswerReference(whole);
    const end = call.ok ? endOf(call.action) : undefined;
    if (!call.ok || (end && (!sound || context.steered || ended))) {
      const unfinished = context.steered ? notice.userWrote : notice.notFinished;
      drafts.push(malformedCall(call.ok ? unfinished.content : call.error, metadata));
      continue;
    }
    const action = withThought(call.action, index === 0 ? answer.text : '');
    const verdict = ended
      ? AFTER_END
      : context.policy(action, { folder, hook: context.verdicts?.[index], analyzed: context.risks?.[index] });
    // Where the shell stands behind a command is seen when it has run.
    if (action.action === 'run') folder = undefined;
    const confirm = verdict.decision === 'ask';
    if (confirm && !waiting && !context.steered && index === calls.length - 1) drafts.push(stateChanged('awaiting_user_confirmation'));
    drafts.push(addressed(action, metadata, verdict, context.destination));
    const reply = ended ? notice.afterEnd : replyAtOnce(action, verdict, context.destination);
    if (reply) drafts.push(answerTo({ id: context.firstId + drafts.length - 1, source: 'agent', tool_call_metadata: metadata }, reply));
    else if (answeredBy(action.action) !== 'none') waiting = true;
    ended ??= end;
  }
  if (ended && !waiting && !(ended === 'finished' && context.hasChecks)) drafts.push(stateChanged(ended));
  return charged(drafts, answer, context.metrics);
}

const AFTER_END: Verdict = { decision: 'allow', reason: 'it does not run' };

/** Where its first command would run. */
export function folderOf({ shell, destination }: Pick<AnswerContext, 'shell' | 'destination'>): string | undefined {
  return shell && destination && 'executor' in destination && destination.executor === shell.executor ? shell.folder : undefined;
}

const ENDS: { readonly [kind in ActionKind]?: AgentState } = { finish: 'finished', reject: 'rejected' };

/** The state that the agent's turn ends in with this action; a question waits for its answer. */
function endOf(action: ActionDraft): AgentState | undefined {
  return action.action === 'message' && action.args.wait_for_response ? 'awaiting_user_input' : ENDS[action.action];
}

/** The observation of an action that is answered in the same batch. */
function replyAtOnce(action: ActionDraft, { decision, reason }: Verdict, destination: Destination): ObservationDraft | undefined {
  if (decision === 'deny') return denied(reason);
  const failure = failureOf(destination);
  if (failure !== undefined && decision !== 'ask' && isRunnable(action.action)) return notStarted(failure);
  return action.action === 'think' ? notice.thought : undefined;
}

function failureOf(destination: Destination): string | undefined {
  return destination && 'failure' in destination ? destination.failure : undefined;
}

/** The cost and the reasoning of an answer stand on its first event, which is not the state that asks for a confirmation. */
function charged(drafts: readonly SourcedDraft[], answer: LlmAnswer, llm_metrics: LlmMetrics): readonly SourcedDraft[] {
  const first = drafts.findIndex(({ source }) => source === 'agent');
  const reasoning = reasoningOf(answer);
  return drafts.map((draft, index) => (index === first ? { ...draft, llm_metrics, ...(reasoning && { reasoning }) } : draft));
}

function reasoningOf({ model, reasoning: parts = [], toolCalls }: LlmAnswer): AnswerReasoning | undefined {
  const withMetadata = toolCalls.flatMap(({ id, metadata }) => (metadata ? [[id, metadata] as const] : []));
  if (parts.length + withMetadata.length === 0) return undefined;
  return { model, parts, ...(withMetadata.length > 0 && { calls: Object.fromEntries(withMetadata) }) };
}

/** An answer without calls is a message to the user, and waits; unless the user wrote meanwhile. */
function inWords(text: string, steered: boolean): readonly SourcedDraft[] {
  const message = { source: 'agent', ...MessageAction.create({ content: text, wait_for_response: !steered }) } as const;
  return steered ? [message] : [message, stateChanged('awaiting_user_input')];
}

/** The text that the model wrote beside its calls is the thought of the first of them, where clients show it. */
function withThought(action: ActionDraft, text: string): ActionDraft {
  if (text === '' || !('thought' in action.args)) return action;
  const thought = action.args.thought ? `${text}\n${String(action.args.thought)}` : text;
  return { ...action, args: { ...action.args, thought } } as ActionDraft;
}

function addressed(
  action: ActionDraft,
  metadata: ToolCallMetadata,
  { decision, reason, risk }: Verdict,
  destination: Destination,
): SourcedDraft {
  const confirmation_state = STATES[decision];
  const args = {
    ...action.args,
    ...(confirmation_state && { confirmation_state }),
    ...(risk !== undefined && 'security_risk' in action.args && { security_risk: risk }),
  };
  const executor =
    isRunnable(action.action) && decision === 'allow' && destination && 'executor' in destination ? destination.executor : undefined;
  const asks = decision === 'ask' && { confirmation_reason: reason };
  return { ...action, source: 'agent', args, tool_call_metadata: metadata, ...asks, ...(executor && { executor }) } as SourcedDraft;
}

const STATES = { allow: undefined, ask: 'awaiting_confirmation', deny: 'rejected' } as const;

/** The answer in the chat-completion shape that clients know. `created` in seconds. */
function toModelResponse(answer: LlmAnswer, created: Date): ModelResponse {
  const { text, toolCalls, usage } = answer;
  return {
    id: answer.id,
    created: Math.floor(created.getTime() / 1000),
    model: answer.model,
    object: 'chat.completion',
    choices: [
      {
        finish_reason: answer.finishReason,
        index: 0,
        message: {
          content: text === '' ? null : text,
          role: 'assistant',
          tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } })),
        },
      },
    ],
    usage: {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}
