/**
 * One model behind the AI SDK's provider packages. Owns the request and its deadline of silence;
 * does not own retries (`withRetries`) nor what an answer means (the turn).
 *
 * Invariants
 * P1  No provider package is imported before the first stream.
 * P2  A stream ends with exactly one `done` or `failed`, or just ends after an abort; it never throws.
 * P3  An endpoint that says nothing for `silenceMs` is given up.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { abortable } from '@tendon/protocol/async';
import type { Secret } from '@tendon/protocol/masking';
import type { Clock } from '../async/clock.ts';
import { classifyFailure, failure } from './classify-failure.ts';
import type { LlmEvent, LlmFailure, LlmProvider, LlmRequest, LlmAnswer, LlmToolCall, LlmUsage } from './llm-provider.ts';
import { costOf, findModel } from './prices.ts';
import { toPrompt } from './to-prompt.ts';

export interface LanguageModelOptions {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly clock: Clock;
  /** Imports the package and makes the model; a later one is tried when the endpoint says that it serves this model on another API. */
  readonly load: readonly (() => Promise<LanguageModelV4>)[];
  readonly silenceMs: number;
  /** Only for an API that needs it. */
  readonly maxOutputTokens: number | undefined;
}

export function createLanguageModelProvider({ model, apiKey, clock, load, silenceMs, maxOutputTokens }: LanguageModelOptions): LlmProvider {
  const facts = findModel(model);
  let api = 0;
  let calls = 0;

  async function open(request: LlmRequest, signal: AbortSignal): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const options = {
      ...callOptions(facts?.vision === false ? withoutPictures(request) : request),
      maxOutputTokens,
      abortSignal: signal,
    };
    for (;;) {
      const language = await load[api]!();
      const opening = Promise.resolve(language.doStream(options)).then((result) => result.stream);
      try {
        return await abortable(opening, signal);
      } catch (error) {
        if (api + 1 >= load.length || !isOtherApi(error)) throw error;
        api++;
      }
    }
  }

  async function* stream(request: LlmRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<LlmEvent> {
    const started = clock.now();
    const builder = new AnswerBuilder(model, `answer-${started.getTime()}-${calls++}`);
    using silence = watchSilence(clock, silenceMs);
    const stop = AbortSignal.any([signal, silence.signal]);
    try {
      for await (const part of readParts(await open(request, stop), stop)) {
        silence.heard();
        if (part.type === 'error') throw part.error;
        const event = builder.add(part);
        if (event) yield event;
      }
      if (signal.aborted) return;
      const result = builder.finish();
      if ('error' in result) return yield failed(result);
      const costUsd = facts ? costOf(facts, result.usage) : 0;
      yield { type: 'done', answer: { ...result, costUsd, latencyMs: clock.now().getTime() - started.getTime() } };
    } catch (error) {
      if (signal.aborted) return;
      if (silence.signal.aborted) yield failed(failure('LLM_UNAVAILABLE', (silence.signal.reason as Error).message, true));
      else yield failed(classifyFailure(error, { model, apiKey, now: clock.now() }));
    }
  }

  return { model, contextWindow: facts?.contextWindow, scripted: false, stream };
}

function failed(reason: LlmFailure): LlmEvent {
  return { type: 'failed', failure: reason };
}

/** A model that is known to see nothing refuses the whole request for one picture. */
function withoutPictures({ messages, tools }: LlmRequest): LlmRequest {
  return { tools, messages: messages.map((message) => ('imageUrls' in message ? { ...message, imageUrls: [] } : message)) };
}

function callOptions({ messages, tools }: LlmRequest): LanguageModelV4CallOptions {
  const functions = tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }));
  return {
    prompt: toPrompt(messages),
    ...(functions.length > 0 && { tools: functions, toolChoice: { type: 'auto' } }),
    providerOptions: { openai: { store: false } },
  };
}

/** OpenAI answers so when a model is not served on chat completions. */
function isOtherApi(error: unknown): boolean {
  return error instanceof Error && /v1\/responses|not a chat model/i.test(error.message);
}

/** Reads a stream to its end, or until `signal` aborts: then it throws the reason at once, whatever the source does. */
async function* readParts<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncIterable<T> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Aborts `signal` when nothing was heard for so long; `end` stops watching. One timer, however many things are heard. */
interface SilenceWatch extends Disposable {
  readonly signal: AbortSignal;
  heard(): void;
}

function watchSilence(clock: Clock, silenceMs: number): SilenceWatch {
  const silent = new AbortController();
  const ended = new AbortController();
  let last = clock.now().getTime();
  const watch = async (): Promise<void> => {
    for (let left = silenceMs; left > 0; left = last + silenceMs - clock.now().getTime()) await clock.sleep(left, { signal: ended.signal });
    silent.abort(new Error(`no data for ${silenceMs / 1_000} s`));
  };
  watch().catch(() => undefined); // rejects only when it is ended
  return {
    signal: silent.signal,
    heard: () => void (last = clock.now().getTime()),
    [Symbol.dispose]: () => ended.abort(),
  };
}

/** An answer before its price and its latency are known. */
type BareAnswer = Omit<LlmAnswer, 'costUsd' | 'latencyMs'>;

/**
 * Collects one streamed answer and judges whether it is complete.
 *
 * Invariants
 * A1  What is judged complete carries a finish reason that the provider sent.
 * A2  The text of a tool call is as the model wrote it; an empty one, which means "no arguments", is `{}`.
 */
class AnswerBuilder {
  readonly #model: string;
  readonly #fallbackId: string;
  #id = '';
  #text = '';
  readonly #calls: LlmToolCall[] = [];
  #finish: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | undefined;

  /** `fallbackId` names the answer when the provider gives no id. */
  constructor(model: string, fallbackId: string) {
    this.#model = model;
    this.#fallbackId = fallbackId;
  }

  /** Takes a part in; gives the event to pass on, if it is one. */
  add(part: LanguageModelV4StreamPart): LlmEvent | undefined {
    switch (part.type) {
      case 'text-delta':
        this.#text += part.delta;
        return delta('text', part.delta);
      case 'reasoning-delta':
        return delta('reasoning', part.delta);
      case 'tool-input-start':
        return { type: 'calling', tool: part.toolName };
      case 'tool-input-delta':
        return delta('tool', part.delta);
      case 'tool-call':
        this.#calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input.trim() === '' ? '{}' : part.input });
        return undefined;
      case 'response-metadata':
        this.#id ||= part.id ?? '';
        return undefined;
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.usage };
        return undefined;
      default:
        return undefined;
    }
  }

  /** The whole answer, or why it is none. */
  finish(): BareAnswer | LlmFailure {
    const reason = this.#finish && readReason(this.#finish.reason);
    if (!this.#finish || reason === undefined) return failure('LLM_UNAVAILABLE', 'the answer was cut off', true);
    const isEmpty = this.#text.trim() === '' && this.#calls.length === 0;
    if (reason === 'content_filter' && (isEmpty || this.#calls.length > 0)) {
      return failure('LLM_CONTENT_POLICY', 'the answer was held back by its content filter', false);
    }
    if (reason === 'length' && isEmpty) {
      return failure('LLM_FAILED', 'the limit of output tokens was reached before any text; ask for smaller steps', false);
    }
    if (isEmpty) return failure('LLM_FAILED', 'the answer was empty', true);
    return {
      id: this.#id || this.#fallbackId,
      model: this.#model,
      text: this.#text,
      toolCalls: this.#calls,
      finishReason: reason === 'stop' && this.#calls.length > 0 ? 'tool_calls' : reason,
      usage: readUsage(this.#finish.usage),
    };
  }
}

function delta(part: 'text' | 'reasoning' | 'tool', text: string): LlmEvent | undefined {
  return text === '' ? undefined : { type: 'delta', part, text };
}

/** Undefined when the provider never reported why it stopped: the stream was cut. */
function readReason({ unified, raw }: LanguageModelV4FinishReason): LlmAnswer['finishReason'] | undefined {
  if (unified === 'tool-calls') return 'tool_calls';
  if (unified === 'content-filter') return 'content_filter';
  if (unified === 'stop' || unified === 'length') return unified;
  if (unified !== 'other' || !raw) return undefined;
  return /length|max_tokens/i.test(raw) ? 'length' : 'stop';
}

/** `inputTokens` counts all input, cached or not; what a provider does not report is 0. */
function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): LlmUsage {
  const cacheReadTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  const total = inputTokens.total ?? (inputTokens.noCache ?? 0) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens: total, outputTokens: outputTokens.total ?? 0, cacheReadTokens, cacheWriteTokens };
}
