import type { Readable, Writable } from 'node:stream';

/** The running program of `host/main.ts`, wherever it runs: its lines over two streams. */
export interface BrowserHost {
  readonly input: Writable;
  readonly output: Readable;
  /** With how it ended; never rejects. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  /** Ends it with everything below it, at once. */
  kill(): void;
}
