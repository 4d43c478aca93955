/**
 * A real provider without a model: it plays a script. Shipped; used by tests, benches and the demonstration.
 *
 * Invariants
 * SCR1  What is answered depends on the request alone: the place in a list is the number of answers already in the request,
 *       so a server that was killed and started again goes on where the log stands.
 * SCR2  Only failures are remembered: each failure of a list happens once per provider.
 */
import { catalogError, type ErrorCode } from '@tendon/protocol';
import type { Clock } from '../async/clock.ts';
import type { LlmAnswer, LlmEvent, LlmProvider, LlmRequest, LlmUsage } from './llm-provider.ts';

export interface ScriptedToolCall {
  readonly name: string;
  /** An object is sent as its JSON; a string is sent as it is, also when it is not JSON. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
  /** Default `call_<answers before>_<index>`. */
  readonly id?: string;
}

export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly finishReason?: LlmAnswer['finishReason'];
  readonly usage?: Partial<LlmUsage>;
  readonly costUsd?: number;
  /** Waited by the clock before the first delta. */
  readonly delayMs?: number;
}

export interface ScriptedFailure {
  readonly failure: ErrorCode;
  readonly detail?: string;
  /** Default: true for a rate limit and an unavailable provider. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  /** Streamed before it fails: a cut answer. */
  readonly text?: string;
  readonly delayMs?: number;
}

export type ScriptedStep = ScriptedAnswer | ScriptedFailure;
/** A list in order, or a function of the request; `index` is the number of answers already in it. */
export type Script = readonly ScriptedStep[] | ((request: LlmRequest, index: number) => ScriptedStep);

export interface ScriptedOptions {
  /** Needed for `delayMs` and for latencies; without it nothing waits and every latency is 0. */
  readonly clock?: Clock;
  /** Default `scripted`. */
  readonly model?: string;
}

export function createScriptedProvider(script: Script, { clock, model = 'scripted' }: ScriptedOptions = {}): LlmProvider {
  const nextStep = typeof script === 'function' ? script : playList(script);
  return {
    model,
    contextWindow: undefined,
    scripted: true,
    async *stream(request, { signal }): AsyncIterable<LlmEvent> {
      const started = clock?.now().getTime() ?? 0;
      const index = request.messages.filter(({ role }) => role === 'assistant').length;
      const step = nextStep(request, index);
      if (step.delayMs && clock && !(await waited(clock, step.delayMs, signal))) return;
      for (const event of 'failure' in step ? failing(step) : answering(step, { request, index, model })) {
        if (signal.aborted) return;
        yield event.type === 'done' && clock ? withLatency(event, clock.now().getTime() - started) : event;
      }
    },
  };
}

/** The list as a function of the request. */
export function playList(steps: readonly ScriptedStep[]): (request: LlmRequest, index: number) => ScriptedStep {
  const done = new Set<ScriptedStep>();
  return (_request, index) => {
    let answers = 0;
    for (const step of steps) {
      if (!('failure' in step)) {
        if (answers === index) return step;
        answers++;
      } else if (answers === index && !done.has(step)) {
        done.add(step);
        return step;
      }
    }
    return { failure: 'LLM_FAILED', detail: `the script has ${answers} answers, and answer ${index + 1} was asked for`, retryable: false };
  };
}

async function waited(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(delayMs, { signal }).then(
    () => true,
    () => false,
  );
}

function* failing(step: ScriptedFailure): Iterable<LlmEvent> {
  if (step.text) yield* deltas('text', step.text);
  const retryable = step.retryable ?? (step.failure === 'LLM_RATE_LIMITED' || step.failure === 'LLM_UNAVAILABLE');
  const error = catalogError(step.failure, step.detail ?? 'the script says so');
  yield { type: 'failed', failure: { error, retryable, ...(step.retryAfterMs !== undefined && { retryAfterMs: step.retryAfterMs }) } };
}

function* answering(step: ScriptedAnswer, context: { request: LlmRequest; index: number; model: string }): Iterable<LlmEvent> {
  const { request, index, model } = context;
  const text = step.text ?? '';
  const toolCalls = (step.toolCalls ?? []).map((call, at) => ({
    id: call.id ?? `call_${index}_${at}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
  yield* deltas('reasoning', step.reasoning ?? '');
  yield* deltas('text', text);
  for (const call of toolCalls) {
    yield { type: 'calling', tool: call.name };
    yield* deltas('tool', call.arguments);
  }
  yield {
    type: 'done',
    answer: {
      id: `scripted-${index}`,
      model,
      text,
      toolCalls,
      finishReason: step.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
      usage: {
        inputTokens: tokensOf(request.messages.reduce((sum, message) => sum + message.text.length, 0)),
        outputTokens: tokensOf(text.length + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)),
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        ...step.usage,
      },
      costUsd: step.costUsd ?? 0,
      latencyMs: 0,
    },
  };
}

/** Four characters a token: the usual rule of thumb, so that figures look alive; nobody is billed by it. */
const tokensOf = (characters: number): number => Math.ceil(characters / 4);

const DELTA_LENGTH = 24;
/** Of one text: a longer one comes in longer pieces. */
const MOST_DELTAS = 1000;

/** Pieces of about `DELTA_LENGTH` characters that never cut a surrogate pair. */
function* deltas(part: 'text' | 'reasoning' | 'tool', text: string): Iterable<LlmEvent> {
  const length = Math.max(DELTA_LENGTH, Math.ceil(text.length / MOST_DELTAS));
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + length, text.length);
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    yield { type: 'delta', part, text: text.slice(from, to) };
    from = to;
  }
}

function withLatency(event: Extract<LlmEvent, { type: 'done' }>, latencyMs: number): LlmEvent {
  return { type: 'done', answer: { ...event.answer, latencyMs } };
}
