import type { HandlerContext } from '../action-handler.ts';
import type { Foreground } from './session.ts';

export type WaitEnd = 'ended' | 'quiet' | 'timeout' | 'cancelled';

/** Waits until the command ends or a clock runs out; its output goes to the context meanwhile. */
export function waitFor(
  running: Foreground,
  { quietMs, hardMs }: { readonly quietMs: number; readonly hardMs: number },
  { signal, output }: HandlerContext,
): Promise<WaitEnd> {
  return new Promise((resolve) => {
    if (running.ended) return resolve('ended');
    if (signal.aborted) return resolve('cancelled');
    const hard = Number.isFinite(hardMs) ? setTimeout(() => settle('timeout'), hardMs) : undefined;
    let quiet: NodeJS.Timeout | undefined;
    const cancel = (): void => settle('cancelled');

    function watchQuiet(): void {
      const rest = running.lastOutputAt + quietMs - performance.now();
      if (rest <= 0) settle('quiet');
      else quiet = setTimeout(watchQuiet, Math.ceil(rest));
    }
    function settle(end: WaitEnd): void {
      clearTimeout(hard);
      clearTimeout(quiet);
      signal.removeEventListener('abort', cancel);
      running.onOutput = undefined;
      running.onEnd = undefined;
      resolve(end);
    }

    running.onOutput = output;
    running.onEnd = () => settle('ended');
    signal.addEventListener('abort', cancel, { once: true });
    if (Number.isFinite(quietMs)) watchQuiet();
  });
}
