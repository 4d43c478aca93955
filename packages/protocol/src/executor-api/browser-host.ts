/**
 * What a browser's host reads and writes: one JSON value a line, over its standard input and output. The executor starts it inside the
 * sandbox, or the server beside it, where the image has no browser. The host ends when its input does.
 */
import type { ObservationDraft } from '../event.ts';

/** Given to the host as its one argument, as JSON. All paths as the host sees them. */
export interface HostConfig {
  readonly workspace: string;
  /** Private; stays while the browser is ended. */
  readonly profile: string;
  /** Of the egress proxy; missing where the network is the host's own. */
  readonly proxyUrl?: string;
  /** Instead of looking for one. */
  readonly chromium?: string;
  /** Opened at once: the page of the last browser when it was ended. */
  readonly startUrl?: string;
  /** It stands in for one that the image of a container does not have. */
  readonly isSidecar?: boolean;
}

/**
 * What a host that the server starts beside the sandbox reads first, in place of the rest of `HostConfig`, which the server
 * knows better.
 */
export type BrowserRequest = Pick<HostConfig, 'proxyUrl' | 'startUrl'>;

export type HostLine =
  | { readonly type: 'ready'; readonly note?: string }
  /** No browser could be started; the host ends. */
  | { readonly type: 'failed'; readonly reason: string }
  /** The order has arrived: from now on it may have effects. */
  | { readonly type: 'taken'; readonly id: number }
  | { readonly type: 'output'; readonly id: number; readonly text: string }
  | { readonly type: 'done'; readonly id: number; readonly observation: ObservationDraft }
  /** The last line of a host beside the sandbox, in its place: nobody here sees its end. */
  | { readonly type: 'ended'; readonly how: string };

const CHROMIUM_ENDED = 3;

/** In words; `lastOutput` is the last that it printed. */
export function howHostEnded(code: number | null, signal: string | null, lastOutput: string): string {
  if (code === CHROMIUM_ENDED) return 'Chromium was killed or crashed';
  return [signal ?? `exit code ${code}`, lastOutput.trim()].filter(Boolean).join(': ');
}
