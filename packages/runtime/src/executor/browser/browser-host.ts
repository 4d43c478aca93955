import type { Readable, Writable } from 'node:stream';

/** The running program of `host/main.ts`, wherever it runs: `browser-lines.ts` over two streams. */
export interface BrowserHost {
  readonly input: Writable;
  readonly output: Readable;
  /** With how it ended; never rejects. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  /** Ends it with everything below it, at once. */
  kill(): void;
}

const CHROMIUM_ENDED = 3;

/** In words; `said` = the last that it printed. */
export function howHostEnded(code: number | null, signal: NodeJS.Signals | null, said: string): string {
  if (code === CHROMIUM_ENDED) return 'Chromium was killed or crashed';
  return [signal ?? `exit code ${code}`, said.trim()].filter(Boolean).join(': ');
}
