/**
 * One model behind the AI SDK's provider packages. Owns the request and its deadline of silence;
 * does not own retries (`withRetries`) nor what an answer means (the turn).
 *
 * Invariants
 * LMP1  No provider package is imported before the first stream.
 * LMP2  A stream ends with exactly one `done` or `failed`, or just ends after an abort; it never throws.
 * LMP3  An endpoint that says nothing for `silenceMs` is given up.
 * LMP4  A refusal of how reasoning was sent back is answered once in the way that it asks for, which then stays.
 */
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { abortable } from '@tendon/protocol/async';
import type { Secret } from '@tendon/protocol/masking';
import type { Clock } from '../async/clock.ts';
import { AnswerBuilder } from './answer-builder.ts';
import { classifyFailure, failure } from './classify-failure.ts';
import type { LlmEvent, LlmFailure, LlmProvider, LlmRequest, ReasoningEffort } from './llm-provider.ts';
import type { ModelTraits } from './model-traits.ts';
import { costOf, findModel } from './prices.ts';
import { styleAfterRefusal, type ReplayStyle } from './reasoning-replay.ts';
import { NotReplaced, RequestPrefix, type LoadModel } from './request-prefix.ts';
import { createToPrompt } from './to-prompt.ts';
import type { RequestRules } from './model-name.ts';

/** How the endpoint wants its requests. */
interface RequestStyle {
  /** The package signs each request, which is then sent as it is. */
  readonly isSigned: boolean;
  /** Only for an API that needs it. */
  readonly maxOutputTokens: number | undefined;
  /** How the endpoint wants reasoning back, until it says otherwise. */
  readonly replay: ReplayStyle;
  readonly rules: RequestRules;
  readonly effort: ReasoningEffort | undefined;
}

export interface LanguageModelOptions extends RequestStyle {
  readonly model: string;
  readonly apiKey: Secret | undefined;
  readonly clock: Clock;
  /** Imports the package and makes the model; a later one is tried when the endpoint says that it serves this model on another API. */
  readonly load: readonly LoadModel[];
  readonly fetch: typeof fetch;
  readonly silenceMs: number;
  readonly traits: ModelTraits;
  /** It runs on the user's own machine. */
  readonly isFree: boolean;
}

export function createLanguageModelProvider(about: LanguageModelOptions): LlmProvider {
  const { model, apiKey, clock, silenceMs, traits } = about;
  const facts = findModel(model);
  const requests = new ModelRequests(about);
  let calls = 0;

  async function* stream(request: LlmRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<LlmEvent> {
    const started = clock.now();
    const builder = new AnswerBuilder({ model, fallbackId: `answer-${started.getTime()}-${calls++}` });
    using silence = watchSilence(clock, silenceMs);
    const stop = AbortSignal.any([signal, silence.signal]);
    try {
      for await (const part of readParts(await requests.open(request, stop), stop)) {
        silence.heard();
        if (part.type === 'error') throw part.error;
        const event = builder.add(part);
        if (event) yield event;
      }
      if (signal.aborted) return;
      const result = builder.finish();
      if ('error' in result) return yield failed(result);
      const cost = { costUsd: facts ? costOf(facts, result.usage) : 0, ...(!facts && !about.isFree && { isUnpriced: true as const }) };
      yield { type: 'done', answer: { ...result, ...cost, latencyMs: clock.now().getTime() - started.getTime() } };
    } catch (error) {
      if (signal.aborted) return;
      if (silence.signal.aborted) return yield failed(failure('LLM_UNAVAILABLE', (silence.signal.reason as Error).message, true));
      const reason = classifyFailure(error, { model, apiKey, now: clock.now() });
      // An endpoint may give a model a smaller window than its vendor does.
      if (reason.contextWindow !== undefined) traits.learn({ contextWindow: reason.contextWindow });
      yield failed(reason);
    }
  }

  return {
    model,
    get contextWindow() {
      return traits.known.contextWindow ?? facts?.contextWindow;
    },
    scripted: false,
    stream,
  };
}

/** Opens requests in the way that the endpoint was found to want: its API, and how reasoning goes back. */
class ModelRequests {
  readonly #about: LanguageModelOptions;
  readonly #effort: ReasoningEffort | undefined;
  readonly #isKnownBlind: boolean;
  readonly #refused = new Set<ReplayStyle>();
  #style: ReplayStyle;
  #toPrompt: ReturnType<typeof createToPrompt>;
  #api = 0;
  #prefix: RequestPrefix;

  constructor(about: LanguageModelOptions) {
    const facts = findModel(about.model);
    this.#about = about;
    this.#effort = facts?.reasoning === false ? undefined : about.effort;
    this.#isKnownBlind = facts?.vision === false;
    this.#style = about.replay;
    this.#toPrompt = createToPrompt({ model: about.model, style: about.replay, rules: about.rules });
    this.#prefix = this.#newPrefix();
  }

  async open(request: LlmRequest, signal: AbortSignal): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const { maxOutputTokens, traits } = this.#about;
    // What the endpoint showed counts more than what is known of the model.
    const isBlind = traits.known.images === undefined ? this.#isKnownBlind : !traits.known.images;
    const shown = isBlind ? withoutPictures(request) : request;
    for (;;) {
      // An endpoint that refused what the model thought would refuse that it thinks on without it.
      const reasoning = this.#style === 'none' && this.#refused.size > 0 ? undefined : this.#effort;
      const whole = { ...callOptions(shown, this.#toPrompt), reasoning, maxOutputTokens, abortSignal: signal };
      const { language, options } = await this.#prefix.shorten(whole);
      const opening = Promise.resolve(language.doStream(options)).then((result) => result.stream);
      try {
        return await abortable(opening, signal);
      } catch (error) {
        if (!this.#mayTryAgain(error)) throw error;
      }
    }
  }

  #newPrefix(): RequestPrefix {
    return new RequestPrefix(this.#about.load[this.#api]!, this.#about.fetch, { isWhole: this.#about.isSigned });
  }

  #mayTryAgain(error: unknown): boolean {
    if (error instanceof NotReplaced) {
      this.#prefix.giveUp();
      return true;
    }
    const wanted = styleAfterRefusal(error, this.#style);
    if (wanted && !this.#refused.has(wanted)) {
      this.#refused.add(this.#style);
      this.#style = wanted;
      this.#toPrompt = createToPrompt({ model: this.#about.model, style: wanted, rules: this.#about.rules });
      return true;
    }
    if (this.#api + 1 >= this.#about.load.length || !isOtherApi(error)) return false;
    this.#api++;
    this.#prefix = this.#newPrefix();
    return true;
  }
}

function failed(reason: LlmFailure): LlmEvent {
  return { type: 'failed', failure: reason };
}

/** A model that is known to see nothing refuses the whole request for one picture. */
function withoutPictures({ messages, tools }: LlmRequest): LlmRequest {
  return { tools, messages: messages.map((message) => ('imageUrls' in message ? { ...message, imageUrls: [] } : message)) };
}

function callOptions({ messages, tools }: LlmRequest, toPrompt: ReturnType<typeof createToPrompt>): LanguageModelV4CallOptions {
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

/** OpenAI answers so when a model is served on its other API only. */
function isOtherApi(error: unknown): boolean {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    /v1\/(?:responses|chat\/completions)|not a chat model|not supported (?:with|in|by) the responses api/i.test(error.message)
  );
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

const ENDED = new Error('the answer has ended');

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
    // A reason of its own: to make the usual one costs more than the timer.
    [Symbol.dispose]: () => ended.abort(ENDED),
  };
}
