/**
 * One model behind the AI SDK's provider packages. Owns the request and its deadline of silence;
 * does not own retries (`withRetries`) nor what an answer means (the turn).
 *
 * Invariants
 * P1  No provider package is imported before the first stream.
 * P2  A stream ends with exactly one `done` or `failed`, or just ends after an abort; it never throws.
 * P3  An endpoint that says nothing for `silenceMs` is given up.
 * P4  A refusal of how reasoning was sent back is answered once in the way that it asks for, which then stays.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { abortable } from '@tendon/protocol/async';
import type { Secret } from '@tendon/protocol/masking';
import type { Clock } from '../async/clock.ts';
import { AnswerBuilder } from './answer-builder.ts';
import { classifyFailure, failure } from './classify-failure.ts';
import type { LlmEvent, LlmFailure, LlmProvider, LlmRequest, ReasoningEffort } from './llm-provider.ts';
import { costOf, findModel } from './prices.ts';
import { styleAfterRefusal, type ReasoningReplay, type ReplayStyle } from './reasoning-replay.ts';
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
  /** How the endpoint wants reasoning back, until it says otherwise. */
  readonly replay: ReplayStyle;
  readonly effort: ReasoningEffort | undefined;
}

export function createLanguageModelProvider(about: LanguageModelOptions): LlmProvider {
  const { model, apiKey, clock, load, silenceMs, maxOutputTokens } = about;
  const facts = findModel(model);
  const effort = facts?.reasoning === false ? undefined : about.effort;
  let style = about.replay;
  const refused = new Set<ReplayStyle>();
  let api = 0;
  let calls = 0;

  async function open(request: LlmRequest, signal: AbortSignal): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const shown = facts?.vision === false ? withoutPictures(request) : request;
    for (;;) {
      const language = await load[api]!();
      // An endpoint that refused what the model thought would refuse that it thinks on without it.
      const reasoning = style === 'none' && refused.size > 0 ? undefined : effort;
      const options = { ...callOptions(shown, { model, style }), reasoning, maxOutputTokens, abortSignal: signal };
      const opening = Promise.resolve(language.doStream(options)).then((result) => result.stream);
      try {
        return await abortable(opening, signal);
      } catch (error) {
        const wanted = styleAfterRefusal(error, style);
        if (wanted && !refused.has(wanted)) {
          refused.add(style);
          style = wanted;
          continue;
        }
        if (api + 1 >= load.length || !isOtherApi(error)) throw error;
        api++;
      }
    }
  }

  async function* stream(request: LlmRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<LlmEvent> {
    const started = clock.now();
    const builder = new AnswerBuilder({ model, fallbackId: `answer-${started.getTime()}-${calls++}` });
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

function callOptions({ messages, tools }: LlmRequest, replay: ReasoningReplay): LanguageModelV4CallOptions {
  const functions = tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }));
  return {
    prompt: toPrompt(messages, replay),
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
