import { createHash } from 'node:crypto';
import type { KeyedSemaphore } from '../async/keyed-semaphore.ts';
import type { Secret } from '../secrets/secret.ts';
import type { LlmProvider } from './llm-provider.ts';

/** An endpoint counts requests by the key that they come with. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
}

/**
 * Makes each request in a place of its endpoint and key, and holds it until the stream ends. A request that has to wait reports it first,
 * and again when its turn has come; an abort ends the wait. Pauses between attempts hold no place.
 */
export function inPlaces(provider: LlmProvider, places: KeyedSemaphore, { baseUrl, apiKey }: Endpoint): LlmProvider {
  // A digest, not the key itself: the name of a place is only compared.
  const key = `${baseUrl} ${createHash('sha256')
    .update(apiKey?.reveal() ?? '')
    .digest('hex')}`;
  return {
    model: provider.model,
    contextWindow: provider.contextWindow,
    scripted: provider.scripted,
    async *stream(request, options) {
      let release = places.tryAcquire(key);
      const waits = release === undefined;
      if (waits) yield { type: 'queued', ahead: places.waiting(key), limit: places.limit };
      release ??= await places.acquire(key, options.signal);
      if (!release) return;
      try {
        if (waits) yield { type: 'admitted' };
        yield* provider.stream(request, options);
      } finally {
        release();
      }
    },
  };
}
