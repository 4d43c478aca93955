import { withStream, type KeyedSemaphore, type LlmAnswer, type LlmEvent, type LlmProvider } from '@tendon/core';
import { Counter, gauge, Histogram, type Instrument } from '../platform/exposition.ts';

/** In seconds, of a whole answer. */
const ANSWER_BOUNDS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];
const BY_MODEL = ['model'] as const;

/** Counts requests to models, what they took and cost, and what went wrong with them. */
export class ModelMeasures {
  readonly #requests = new Counter({
    name: 'tendon_model_requests_total',
    help: 'Requests to models that ended, retries included in one: answered, failed or aborted',
    labels: ['model', 'result'],
  });
  readonly #seconds = new Histogram(
    { name: 'tendon_model_answer_seconds', help: 'Time a model took for an answer, without waiting and retries', labels: BY_MODEL },
    ANSWER_BOUNDS,
  );
  readonly #tokens = new Counter({
    name: 'tendon_model_tokens_total',
    help: 'Tokens as models count them; input includes what was read from their caches',
    labels: ['model', 'type'],
  });
  readonly #cost = new Counter({
    name: 'tendon_model_cost_usd_total',
    help: 'US dollars, where the price is known',
    labels: BY_MODEL,
  });
  readonly #failures = new Counter({
    name: 'tendon_model_failures_total',
    help: 'Attempts that failed, by code of the error; also those that were tried again',
    labels: ['model', 'code'],
  });
  readonly #retries = new Counter({ name: 'tendon_model_retries_total', help: 'Attempts after a failure', labels: BY_MODEL });
  readonly #fallbacks = new Counter({
    name: 'tendon_model_fallbacks_total',
    help: 'Requests that went on with the other model',
    labels: BY_MODEL,
  });

  get instruments(): readonly Instrument[] {
    return [this.#requests, this.#seconds, this.#tokens, this.#cost, this.#failures, this.#retries, this.#fallbacks];
  }

  measured(provider: LlmProvider): LlmProvider {
    const { model } = provider;
    const count = this.#count.bind(this, model);
    const end = (result: string): void => this.#requests.add({ model, result });
    return withStream(provider, async function* (request, options) {
      let result = 'aborted';
      try {
        for await (const event of provider.stream(request, options)) {
          count(event);
          if (event.type === 'done') result = 'answered';
          if (event.type === 'failed') result = 'failed';
          yield event;
        }
      } finally {
        end(result);
      }
    });
  }

  #count(model: string, event: LlmEvent): void {
    switch (event.type) {
      case 'retry':
        this.#retries.add({ model });
        return this.#failures.add({ model, code: event.failure.error.code });
      case 'fallback':
        this.#fallbacks.add({ model });
        return this.#failures.add({ model, code: event.failure.error.code });
      case 'failed':
        return this.#failures.add({ model, code: event.failure.error.code });
      case 'done':
        return this.#answered(model, event.answer);
    }
  }

  #answered(model: string, { usage, costUsd, latencyMs }: LlmAnswer): void {
    this.#seconds.observe({ model }, latencyMs / 1000);
    this.#tokens.add({ model, type: 'input' }, usage.inputTokens);
    this.#tokens.add({ model, type: 'output' }, usage.outputTokens);
    this.#tokens.add({ model, type: 'cache_read' }, usage.cacheReadTokens);
    this.#tokens.add({ model, type: 'cache_write' }, usage.cacheWriteTokens);
    this.#cost.add({ model }, costUsd);
  }
}

/** How the requests to all endpoints stand in the queue. */
export function placesInstruments(places: KeyedSemaphore): readonly Instrument[] {
  return [
    gauge('tendon_model_requests_in_flight', 'Requests that models are answering', () => places.totals().taken),
    gauge('tendon_model_requests_waiting', 'Requests that wait for a place at their endpoint', () => places.totals().waiting),
  ];
}
