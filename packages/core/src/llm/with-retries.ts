/**
 * Tries again what may go better the next time.
 *
 * Invariants
 * LR1  What is retryable is the provider's word; nothing else is tried again.
 * LR2  A provider's own time is obeyed when it names one; without one the pauses double, from at most one second.
 * LR3  `retry` comes before the pause, so that clients can say until when; deltas before it are void.
 */
import type { Clock } from '../async/clock.ts';
import { withStream, type LlmFailure, type LlmProvider } from './llm-provider.ts';

export interface RetryOptions {
  readonly clock: Clock;
  /** From 0 to 1, like `Math.random`. */
  readonly random: () => number;
  /** Of one request, the first included. Default 8: about two minutes of pauses. */
  readonly maxAttempts?: number;
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** A provider that wants a longer pause than this has in effect refused. Default one hour. */
  readonly maxRetryAfterMs?: number;
  /** Whether another model is to be asked by now; asked every second of a pause, which then ends at once, and the stream with it. */
  readonly isOutdated?: () => boolean;
}

export function withRetries(provider: LlmProvider, options: RetryOptions): LlmProvider {
  const { clock, maxAttempts = 8, maxRetryAfterMs = 3_600_000 } = options;
  return withStream(provider, async function* (request, { signal }) {
    for (let attempt = 1; ; attempt++) {
      let failure: LlmFailure | undefined;
      for await (const event of provider.stream(request, { signal })) {
        if (event.type === 'failed') failure = event.failure;
        else yield event;
      }
      if (!failure || signal.aborted) return;
      if (!failure.retryable || attempt >= maxAttempts || (failure.retryAfterMs ?? 0) > maxRetryAfterMs) {
        yield { type: 'failed', failure };
        return;
      }
      const delayMs = pauseMs(failure, attempt, options);
      yield { type: 'retry', failure, attempt, resumesAt: new Date(clock.now().getTime() + delayMs) };
      if (!(await paused(delayMs, signal, options))) return;
    }
  });
}

/** Whether the request is to be tried again after it. */
async function paused(ms: number, signal: AbortSignal, { clock, isOutdated }: RetryOptions): Promise<boolean> {
  const sliceMs = isOutdated ? 1_000 : ms;
  try {
    for (let leftMs = ms; leftMs > 0; leftMs -= sliceMs) {
      await clock.sleep(Math.min(leftMs, sliceMs), { signal });
      if (isOutdated?.()) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Half of the pause is random, so that many waiting conversations do not come back at one instant. */
function pauseMs({ retryAfterMs }: LlmFailure, attempt: number, options: RetryOptions): number {
  const { random, firstDelayMs = 1_000, maxDelayMs = 60_000 } = options;
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
  const pause = Math.round(full * (0.5 + random() / 2));
  return retryAfterMs ? retryAfterMs + Math.round((random() * Math.min(full, 1_000)) / 2) : pause;
}
