import { setImmediate as nextRound } from 'node:timers/promises';

/** So long one stretch of work may keep everything else waiting. */
const STRETCH_MS = 12;

/** Lets everything else run where the work has taken long enough, and throws `signal`'s reason once it is aborted. */
export function createBreath(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  async function rest(): Promise<void> {
    await nextRound();
    since = performance.now();
  }

  return () => {
    signal.throwIfAborted();
    if (performance.now() - since < STRETCH_MS) return undefined;
    return rest();
  };
}
