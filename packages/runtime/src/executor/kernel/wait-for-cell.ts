import type { Cell } from './cell.ts';

export type CellWaitEnd = 'ended' | 'quiet' | 'timeout' | 'cancelled';

export interface CellClocks {
  /** Milliseconds; infinite where the clock does not run. */
  readonly quietMs: number;
  readonly hardMs: number;
}

/** Waits until the cell ends or a clock runs out; its output goes on as it comes. */
export function waitForCell(
  cell: Cell,
  { quietMs, hardMs }: CellClocks,
  signal: AbortSignal,
  output?: (text: string) => void,
): Promise<CellWaitEnd> {
  return new Promise((resolve) => {
    if (cell.ended) return resolve('ended');
    if (signal.aborted) return resolve('cancelled');
    const hard = Number.isFinite(hardMs) ? setTimeout(() => settle('timeout'), hardMs) : undefined;
    let quiet: NodeJS.Timeout | undefined;
    const cancel = (): void => settle('cancelled');

    function watchQuiet(): void {
      const leftMs = quietMs - (performance.now() - cell.lastOutputAt);
      if (leftMs <= 0) settle('quiet');
      else quiet = setTimeout(watchQuiet, Math.ceil(leftMs));
    }
    function settle(end: CellWaitEnd): void {
      clearTimeout(hard);
      clearTimeout(quiet);
      signal.removeEventListener('abort', cancel);
      cell.onOutput = undefined;
      cell.onEnd = undefined;
      resolve(end);
    }

    cell.onOutput = output;
    cell.onEnd = () => settle('ended');
    signal.addEventListener('abort', cancel, { once: true });
    cell.lastOutputAt = performance.now();
    if (Number.isFinite(quietMs)) watchQuiet();
  });
}
