import type { HandlerContext } from '../action-handler.ts';
import { listen, type Foreground } from './foreground.ts';
import type { Session } from './session.ts';

export type WaitEnd = 'ended' | 'quiet' | 'input' | 'timeout' | 'cancelled';

const LOOK_EVERY_MS = 250;
/** So long a command may sit in a read of the terminal before it is said to wait for input. */
const INPUT_AFTER_MS = 3000;

/** Waits until the command ends or a clock runs out; its output goes to the context meanwhile. */
export function waitFor(
  session: Session,
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

    /** Looks at a command that has been silent for a while, now and then. */
    function watchQuiet(): void {
      const silentMs = performance.now() - running.lastOutputAt;
      if (silentMs >= quietMs) return settle('quiet');
      if (silentMs >= INPUT_AFTER_MS && Number.isFinite(quietMs) && session.awaitsInput()) return settle('input');
      quiet = setTimeout(watchQuiet, Math.ceil(Math.max(1, Math.min(quietMs - silentMs, LOOK_EVERY_MS))));
    }
    function settle(end: WaitEnd): void {
      clearTimeout(hard);
      clearTimeout(quiet);
      signal.removeEventListener('abort', cancel);
      running.onOutput = undefined;
      running.onEnd = undefined;
      resolve(end);
    }

    listen(running, output);
    running.onEnd = () => settle('ended');
    signal.addEventListener('abort', cancel, { once: true });
    quiet = setTimeout(watchQuiet, LOOK_EVERY_MS);
  });
}
