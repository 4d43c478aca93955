import type { Readable, Writable } from 'node:stream';
import type { BrowserCall } from './language/signatures.ts';

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

/** What the executor asks of the browser's host; its answers are `HostLine`s. */
export type HostOrder =
  | { readonly type: 'browse'; readonly url: string }
  /** `text` is what the calls were parsed from; `message` is one for the user. */
  | { readonly type: 'interact'; readonly calls: readonly BrowserCall[]; readonly text: string; readonly message: string };

export type HostRequest =
  | ({ readonly id: number; readonly withTree: boolean; readonly deadlineMs: number } & HostOrder)
  | { readonly type: 'cancel'; readonly id: number };
