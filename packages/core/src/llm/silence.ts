import type { Clock } from '../async/clock.ts';

/** Aborts `signal` when nothing was heard for so long; `end` stops watching. One timer, however many things are heard. */
export interface SilenceWatch extends Disposable {
  readonly signal: AbortSignal;
  heard(): void;
}

export function watchSilence(clock: Clock, silenceMs: number): SilenceWatch {
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
