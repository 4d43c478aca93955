/**
 * Has another model answer when the first one cannot.
 *
 * Invariants
 * FB1  Only a failure of the model or its account counts: what would fail with any model is a failure.
 * FB2  `fallback` comes before the other model's first event; deltas before it are void.
 * FB3  After a failure the first model is not asked for a while, so that each turn does not wait for it again.
 */
import type { ErrorCode } from '@tendon/protocol';
import type { Clock } from '../async/clock.ts';
import type { LlmFailure, LlmProvider } from './llm-provider.ts';

/** For how long the first model is left alone, by what ailed it: an overload passes, a key or an account is seen to by a person. */
const REST_MS: { readonly [code in ErrorCode]?: number } = {
  LLM_UNAVAILABLE: 300_000,
  LLM_FAILED: 300_000,
  LLM_RATE_LIMITED: 300_000,
  LLM_AUTHENTICATION: 1_800_000,
  LLM_OUT_OF_CREDITS: 1_800_000,
  LLM_NOT_FOUND: 1_800_000,
};

export function withFallback(first: LlmProvider, second: LlmProvider, { clock }: { readonly clock: Clock }): LlmProvider {
  let rest: { readonly until: number; readonly failure: LlmFailure } | undefined;
  const current = () => (rest && clock.now().getTime() < rest.until ? rest : undefined);
  const announced = (failure: LlmFailure) => ({ type: 'fallback', failure, from: first.model, to: second.model }) as const;
  return {
    model: first.model,
    get contextWindow() {
      return current() ? second.contextWindow : first.contextWindow;
    },
    scripted: first.scripted,
    async *stream(request, options) {
      let failure = current()?.failure;
      if (failure) {
        yield announced(failure);
        return yield* second.stream(request, options);
      }
      for await (const event of first.stream(request, options)) {
        if (event.type === 'failed') failure = event.failure;
        else yield event;
      }
      if (!failure || options.signal.aborted) return;
      const restMs = restOf(failure);
      if (restMs === undefined) return yield { type: 'failed', failure };
      rest = { until: clock.now().getTime() + restMs, failure };
      yield announced(failure);
      yield* second.stream(request, options);
    },
  };
}

/** Undefined when another model would help nothing. */
function restOf({ error, retryable, retryAfterMs = 0 }: LlmFailure): number | undefined {
  // A request that makes no sense to one model is sent to no other.
  if (error.code === 'LLM_FAILED' && !retryable) return undefined;
  const restMs = REST_MS[error.code];
  return restMs && Math.max(restMs, Math.min(retryAfterMs, 3_600_000));
}
