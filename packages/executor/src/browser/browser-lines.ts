/** What the executor asks of the browser's host; its answers are `HostLine`s. */
import type { BrowserCall } from './language/signatures.ts';

export type HostOrder =
  | { readonly type: 'browse'; readonly url: string }
  /** `text` is what the calls were parsed from; `message` is one for the user. */
  | { readonly type: 'interact'; readonly calls: readonly BrowserCall[]; readonly text: string; readonly message: string };

export type HostRequest =
  | ({ readonly id: number; readonly withTree: boolean; readonly deadlineMs: number } & HostOrder)
  | { readonly type: 'cancel'; readonly id: number };
