/** What is waited for: a command or a cell, which goes on when nobody waits any more. */
export interface WaitTarget {
  readonly ended: unknown;
  /** Milliseconds of `performance.now()`. */
  lastOutputAt: number;
  onEnd: (() => void) | undefined;
}

export interface Clocks {
  /** Milliseconds without output; infinite where the clock does not run. */
  readonly quietMs: number;
  /** Milliseconds in all. */
  readonly hardMs: number;
}

export type WaitEnd = 'ended' | 'quiet' | 'stuck' | 'timeout' | 'cancelled';

export interface WaitOptions extends Clocks {
  readonly signal: AbortSignal;
  /** Asked now and then of what has been silent for a while: it will not go on by itself. */
  readonly isStuck?: () => boolean;
}

const LOOK_EVERY_MS = 250;
/** So long it may be silent before it is looked at. */
const STUCK_AFTER_MS = 3000;

/** Waits until it ends or a clock runs out. The clock of silence begins now. */
export function waitFor(waited: WaitTarget, { quietMs, hardMs, signal, isStuck }: WaitOptions): Promise<WaitEnd> {
  return new Promise((resolve) => {
    if (waited.ended) return resolve('ended');
    if (signal.aborted) return resolve('cancelled');
    const hard = Number.isFinite(hardMs) ? setTimeout(() => settle('timeout'), hardMs) : undefined;
    let quiet: NodeJS.Timeout | undefined;
    const cancel = (): void => settle('cancelled');

    function watchQuiet(): void {
      const silentMs = performance.now() - waited.lastOutputAt;
      if (silentMs >= quietMs) return settle('quiet');
      if (silentMs >= STUCK_AFTER_MS && isStuck?.()) return settle('stuck');
      quiet = setTimeout(watchQuiet, Math.ceil(Math.min(quietMs - silentMs, isStuck ? LOOK_EVERY_MS : Infinity)));
    }
    function settle(end: WaitEnd): void {
      clearTimeout(hard);
      clearTimeout(quiet);
      signal.removeEventListener('abort', cancel);
      waited.onEnd = undefined;
      resolve(end);
    }

    waited.onEnd = () => settle('ended');
    signal.addEventListener('abort', cancel, { once: true });
    waited.lastOutputAt = performance.now();
    if (Number.isFinite(quietMs)) watchQuiet();
  });
}
