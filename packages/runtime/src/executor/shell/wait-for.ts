import type { HandlerContext } from '../action-handler.ts';
import { listen, type Foreground } from './foreground.ts';
import type { Session } from './session.ts';

export type WaitEnd = 'ended' | 'quiet' | 'input' | 'timeout' | 'cancelled';

const LOOK_EVERY_MS = 250;
/** So long a command may sit waiting for input before it is said to. */
const INPUT_AFTER_MS = 3000;
/** Hundredths of a second between two looks. */
const IDLE_TICKS = 2;

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
    let ticks = Number.NaN;
    const cancel = (): void => settle('cancelled');

    /** One that works beside its wait will print something by itself. */
    function isStuck(): boolean {
      const look = session.look();
      const wasIdle = look.ticks - ticks <= IDLE_TICKS;
      ticks = look.ticks;
      return look.awaitsInput && wasIdle;
    }
    /** Looks at a command that has been silent for a while, now and then. */
    function watchQuiet(): void {
      const silentMs = performance.now() - running.lastOutputAt;
      if (silentMs >= quietMs) return settle('quiet');
      if (silentMs >= INPUT_AFTER_MS && Number.isFinite(quietMs) && isStuck()) return settle('input');
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
