/**
 * A conversation in the Agent Trajectory Interchange Format (ATIF), which evaluation frameworks read: one step for each message and each answer
 * of the model, with the calls of the answer and what came of them. It owns the steps that wait for an observation, and nothing of the log.
 *
 * AT1  Steps are numbered from 1 without gaps, in the order of the log.
 * AT2  What came of a call stands in the step of the call, under its id.
 */
import { loggedEvents, type EventLog } from '@tendon/core';
import { isAction, isUnknown, reasoningText, type Action, type Event, type LlmMetrics, type Observation } from '@tendon/protocol';
import { VERSION } from '../platform/version.ts';
import { AnswerReader } from './answer-reader.ts';

/** The oldest version that has all that is written here: readers take it, and every later one. */
const SCHEMA = 'ATIF-v1.4';
/** Steps that wait for an observation; beyond that the oldest goes without. */
const MAX_WAITING = 500;

interface AtifStep {
  readonly timestamp: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly model_name?: string;
  message: string;
  readonly reasoning_content?: string;
  tool_calls?: AtifCall[];
  observation?: { readonly results: AtifResult[] };
  readonly metrics?: object;
}

interface AtifCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: object;
}

interface AtifResult {
  readonly source_call_id?: string;
  readonly content: string;
}

/** Pieces of one JSON document: memory does not grow with the history. */
export async function* atifText(log: EventLog): AsyncGenerator<string> {
  const steps = new AtifSteps();
  const answers = new AnswerReader(log);
  const end = log.nextId;
  let count = 0;
  const written = (step: AtifStep): string => `${count === 0 ? '' : ','}${JSON.stringify({ step_id: ++count, ...step })}`;
  yield `{"schema_version":"${SCHEMA}","session_id":${JSON.stringify(log.conversationId)},"steps":[`;
  for await (const stored of loggedEvents(log, { to: end })) {
    steps.add(await answers.fill(stored, isAction(stored) ? 'whole' : 'own-call'));
    for (const step of steps.takeReady()) yield written(step);
  }
  for (const step of steps.takeAll()) yield written(step);
  const agent = { name: 'tendon', version: VERSION, ...(steps.model && { model_name: steps.model }) };
  yield `],"agent":${JSON.stringify(agent)},"final_metrics":${JSON.stringify({ ...totalsOf(steps.metrics), total_steps: count })}}`;
}

interface WaitingStep {
  readonly step: AtifStep;
  /** The answer that it is made of. */
  readonly answer: string | undefined;
  readonly open: Set<number>;
}

class AtifSteps {
  readonly #waiting: WaitingStep[] = [];
  metrics: LlmMetrics | undefined;
  model: string | undefined;

  add(event: Event): void {
    if (isUnknown(event) || isHidden(event)) return;
    if (isAction(event)) this.#addAction(event);
    else this.#addObservation(event);
  }

  /** The newest one stays: more calls of its answer may follow. */
  *takeReady(): Iterable<AtifStep> {
    while (this.#waiting.length > 1 && (this.#waiting[0]!.open.size === 0 || this.#waiting.length > MAX_WAITING))
      yield this.#waiting.shift()!.step;
  }

  *takeAll(): Iterable<AtifStep> {
    for (const { step } of this.#waiting.splice(0)) yield step;
  }

  #addAction(event: Action): void {
    if (event.source === 'agent' && event.action !== 'system') return this.#addAnswer(event);
    if (event.action !== 'message' && event.action !== 'system') return;
    const source = event.action === 'system' ? 'system' : event.source === 'user' ? 'user' : 'system';
    this.#push({ timestamp: event.timestamp, source, message: event.args.content });
  }

  #addAnswer(event: Action): void {
    const { tool_call_metadata: call } = event;
    if (!call && event.action !== 'message') return;
    const last = this.#waiting.at(-1);
    const answer = call?.model_response.id;
    const isMore = answer !== undefined && last?.answer === answer;
    const waiting = isMore ? last : this.#push(this.#stepOf(event), answer);
    if (!call) return;
    addCall(waiting.step, callOf(event));
    waiting.open.add(event.id);
  }

  #stepOf(event: Action | Observation): AtifStep {
    const { timestamp, tool_call_metadata: call, llm_metrics: metrics } = event;
    const response = call?.model_response;
    const content = response?.choices?.[0]?.message?.content;
    const words = 'action' in event && event.action === 'message' ? event.args.content : '';
    const model = response?.model ?? metrics?.accumulated_token_usage.model;
    this.model ??= model || undefined;
    const used = metrics && usedSince(this.metrics, metrics);
    if (metrics) this.metrics = metrics;
    return {
      timestamp,
      source: 'agent',
      ...(model && { model_name: model }),
      message: typeof content === 'string' ? content : words,
      ...reasoningText(event),
      ...(used && { metrics: used }),
    };
  }

  #addObservation(event: Observation): void {
    const asked = this.#waiting.find(({ open }) => event.cause !== undefined && open.has(event.cause));
    const { tool_call_metadata: call } = event;
    if (asked && event.cause !== undefined) {
      asked.open.delete(event.cause);
      addResult(asked.step, event);
    } else if (call && event.cause === undefined) {
      // A call that could not be understood has no action.
      const last = this.#waiting.at(-1);
      const isMore = last?.answer === call.model_response.id;
      const { step } = isMore ? last : this.#push(this.#stepOf(event), call.model_response.id);
      addCall(step, callOf(event));
      addResult(step, event);
    } else if (event.observation === 'error' && event.content !== '') {
      this.#push({ timestamp: event.timestamp, source: 'system', message: event.content });
    }
    if (event.llm_metrics) this.metrics = event.llm_metrics;
  }

  #push(step: AtifStep, answer?: string): WaitingStep {
    const waiting: WaitingStep = { step, answer, open: new Set() };
    this.#waiting.push(waiting);
    return waiting;
  }
}

function addCall(step: AtifStep, call: AtifCall): void {
  (step.tool_calls ??= []).push(call);
}

function addResult(step: AtifStep, { content, tool_call_metadata: call }: Observation): void {
  const id = call?.tool_call_id;
  const isOfStep = step.tool_calls?.some(({ tool_call_id }) => tool_call_id === id);
  (step.observation ??= { results: [] }).results.push({ ...(isOfStep && id !== undefined && { source_call_id: id }), content });
}

function callOf({ tool_call_metadata: call }: Action | Observation): AtifCall {
  const { tool_call_id = '', function_name = '', model_response: response } = call ?? {};
  const made = response?.choices?.[0]?.message?.tool_calls?.find(({ id }) => id === tool_call_id);
  return { tool_call_id, function_name, arguments: argumentsOf(made?.function.arguments ?? '{}') };
}

/** What a model sent instead of an object is there as text. */
function argumentsOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is shown as it came.
  }
  return { text };
}

function usedSince(before: LlmMetrics | undefined, now: LlmMetrics): object {
  const [was, is] = [totalsOf(before), totalsOf(now)];
  return {
    prompt_tokens: is.total_prompt_tokens - was.total_prompt_tokens,
    completion_tokens: is.total_completion_tokens - was.total_completion_tokens,
    cached_tokens: is.total_cached_tokens - was.total_cached_tokens,
    cost_usd: is.total_cost_usd - was.total_cost_usd,
  };
}

function totalsOf(metrics: LlmMetrics | undefined) {
  const { accumulated_token_usage: tokens, accumulated_cost: total_cost_usd = 0 } = metrics ?? {};
  return {
    total_prompt_tokens: tokens?.prompt_tokens ?? 0,
    total_completion_tokens: tokens?.completion_tokens ?? 0,
    total_cached_tokens: tokens?.cache_read_tokens ?? 0,
    total_cost_usd,
  };
}

export function isHidden(event: Action | Observation): boolean {
  const part = isAction(event) ? event.args : event.extras;
  return (part as { readonly hidden?: unknown }).hidden === true;
}
