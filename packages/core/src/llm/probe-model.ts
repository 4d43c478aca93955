/**
 * Asks an endpoint what its model can do, on request: three short questions at most, and its list of models. What it shows is remembered
 * for the address, as what refusals show is.
 */
import type { Clock } from '../async/clock.ts';
import { startDeadline } from '../async/deadline.ts';
import { createLlmProvider, type CreateLlmProviderOptions } from './create-llm-provider.ts';
import { listedWindow } from './listed-window.ts';
import type { LlmAnswer, LlmEvent, LlmFailure, LlmProvider, LlmRequest } from './llm-provider.ts';
import { routeModel } from './model-name.ts';
import { ModelTraitsBook, type LearnedTraits } from './model-traits.ts';
import { findModel } from './prices.ts';

export interface ModelProbe {
  readonly model: string;
  /** What was found out; what no answer shows is left out. */
  readonly traits: LearnedTraits;
  /** It did not answer, in the provider's words; nothing was learned. */
  readonly failure?: string;
  /** Of all answers. */
  readonly tokens: number;
  readonly costUsd: number;
}

export interface ProbeOptions extends Omit<CreateLlmProviderOptions, 'toolCalling' | 'effort' | 'traits'> {
  readonly traits: ModelTraitsBook;
  readonly signal: AbortSignal;
}

/** Of one question, the wait for a place included. */
const DEADLINE_MS = 60_000;
/** No answer to these questions needs more, thoughts included. */
const MAX_CHARS = 8_000;

const NO_ENDPOINT = 'it has no endpoint: name another model, and its address where the name shows none';

/** Never rejects. */
export async function probeModel(options: ProbeOptions): Promise<ModelProbe> {
  const { model, traits } = options;
  const isPlayed = model === 'demo' || model.startsWith('scripted/');
  const route = isPlayed ? undefined : routeModel(model, options.baseUrl);
  const unbiased = new ModelTraitsBook();
  if (route) unbiased.of(route).learn({ images: true }); // it is shown the picture, whatever is known of the model
  const probe = new Probe(createLlmProvider({ ...options, traits: unbiased, toolCalling: 'native' }), options);
  if (!route) return { model, traits: {}, failure: NO_ENDPOINT, ...probe.spent };
  const called = await probe.ask(CALLS);
  const isRefused = wasRefused(called);
  const words = isRefused ? await probe.ask(WORDS) : called;
  if (!words.answer) {
    const { failure } = isRefused && wasRefused(words) ? called : words;
    return { model, traits: {}, failure: failure?.error.message ?? 'it did not answer in time', ...probe.spent };
  }
  const seen = await probe.ask(PICTURE);
  const streamed = seen.answer ? seen : isRefused ? words : await probe.ask(WORDS);
  const size = await listedWindow(route, options);
  const calls = called.answer?.toolCalls.length ?? 0;
  const found: LearnedTraits = {
    tools: calls > 0,
    ...(calls > 0 && { parallelCalls: calls > 1 }),
    ...((seen.answer || wasRefused(seen)) && { images: /\bred\b/i.test(seen.answer?.text ?? '') }),
    ...(streamed.answer && { streaming: streamed.pieces > 1 }),
    ...(size !== undefined && { contextWindow: size }),
  };
  const learned = traits.of(route);
  learned.learn(found);
  const contextWindow = learned.known.contextWindow ?? findModel(model)?.contextWindow;
  return { model, traits: { ...found, ...(contextWindow !== undefined && { contextWindow }) }, ...probe.spent };
}

const NOTE = {
  name: 'note',
  description: 'Notes one word.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

const asking = (text: string): LlmRequest => ({ messages: [{ role: 'user', text }], tools: [] });

const CALLS: LlmRequest = {
  ...asking('Call the tool note twice in this one answer: with the word red, and with the word blue. Write nothing else.'),
  tools: [NOTE],
};
const WORDS = asking('Count from one to ten in words. Write nothing else.');

/** A red square of 16 pixels a side. */
const RED =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg==';
const PICTURE: LlmRequest = {
  messages: [
    {
      role: 'user',
      text: 'Which colour is this picture? Name it, then count from one to ten in words. If you see no picture, write "none" in place of the colour.',
      imageUrls: [RED],
    },
  ],
  tools: [],
};

interface Heard {
  readonly answer?: LlmAnswer;
  readonly failure?: LlmFailure;
  /** In which its text came. */
  readonly pieces: number;
}

/** Asks, and adds up what it costs. */
class Probe {
  readonly #provider: LlmProvider;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #tokens = 0;
  #costUsd = 0;

  constructor(provider: LlmProvider, { clock, signal }: Pick<ProbeOptions, 'clock' | 'signal'>) {
    this.#provider = provider;
    this.#clock = clock;
    this.#signal = signal;
  }

  get spent() {
    return { tokens: this.#tokens, costUsd: this.#costUsd };
  }

  async ask(request: LlmRequest): Promise<Heard> {
    using deadline = startDeadline(this.#clock, DEADLINE_MS);
    return await this.#hear(this.#provider.stream(request, { signal: AbortSignal.any([this.#signal, deadline.signal]) }));
  }

  async #hear(events: AsyncIterable<LlmEvent>): Promise<Heard> {
    let pieces = 0;
    let chars = 0;
    for await (const event of events) {
      if (event.type === 'failed') return { failure: event.failure, pieces };
      if (event.type === 'done') {
        const { usage, costUsd } = event.answer;
        this.#tokens += usage.inputTokens + usage.outputTokens;
        this.#costUsd += costUsd;
        return { answer: event.answer, pieces };
      }
      if (event.type !== 'delta') continue;
      if (event.part === 'text') pieces++;
      chars += event.text.length;
      // Leaving the loop closes the connection.
      if (chars > MAX_CHARS) break;
    }
    return { pieces };
  }
}

/** The request itself was refused, and not for the moment or the account. */
function wasRefused({ failure }: Heard): boolean {
  return failure?.refused !== undefined || (failure?.error.code === 'LLM_FAILED' && !failure.retryable);
}
