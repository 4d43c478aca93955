import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { textArgument, type ActionHandler, type HandlerContext, type Request } from '../action-handler.ts';
import { errorObservation, reasonOf } from '../observation.ts';
import { askBrowser } from './ask-browser.ts';
import type { BrowserHost } from './browser-host.ts';
import type { HostOrder } from './browser-lines.ts';
import { browseObservation } from './browse-observation.ts';
import { startBrowserProcess, type BrowserProcess } from './browser-process.ts';
import * as words from './browser-words.ts';
import { within } from './host/within.ts';
import { parseActions } from './language/parse-actions.ts';

export interface BrowserToolOptions {
  /** `startUrl` is opened by one that wakes up. */
  readonly startHost: (startUrl?: string) => Promise<BrowserHost>;
  /** After so long without use the browser ends. */
  readonly idleMs: number;
}

export interface BrowserTool {
  readonly browse: ActionHandler;
  readonly browseInteractive: ActionHandler;
  /** Starts the browser ahead of the first action; rejects with why there is none. */
  warm(): Promise<void>;
  isUp(): boolean;
  close(): void;
}

const START_MS = 70_000;
const NOBODY: HandlerContext = { signal: new AbortController().signal, output: () => {}, outputPath: () => undefined };

/**
 * The rules of `browse` and `browse_interactive`. Owns at most one browser, which starts with the first action and again after
 * it has ended.
 *
 * 1. Actions are taken one after the other; what cannot be understood is refused before a browser starts.
 * 2. An action ends with the browser's answer, or with why there is none; then the browser is gone and the next action has a new one.
 * 3. An order that a browser has taken is given to no other.
 */
export function createBrowserTool({ startHost, idleMs }: BrowserToolOptions): BrowserTool {
  let browser: BrowserProcess | undefined;
  let notes: string[] = []; // to be said with the next answer
  let isAsleep = false;
  let lastUrl = '';
  let idle: NodeJS.Timeout | undefined;
  const mutex = new Mutex();

  /** The browser; rejects with why there is none. */
  async function awake({ signal, output }: HandlerContext, startUrl?: string): Promise<BrowserProcess> {
    if (browser !== undefined && !browser.hasEnded) return browser;
    if (browser !== undefined) notes.push(words.endedBefore(await browser.ended));
    if (isAsleep) notes.push(words.slept(idleMs / 1000));
    output(words.started);
    browser = startBrowserProcess(await startHost(isAsleep ? startUrl : undefined));
    isAsleep = false;
    try {
      const { note } = await within(START_MS, browser.ready, signal);
      if (note !== undefined) output(`${note}\n`);
      return browser;
    } catch (error) {
      drop();
      throw error;
    }
  }

  async function carryOut(order: HostOrder, request: Request, context: HandlerContext): Promise<ObservationDraft> {
    const startUrl = order.type === 'interact' && /^https?:/.test(lastUrl) ? lastUrl : undefined;
    const first = await askBrowser(await awake(context, startUrl), order, request, context);
    if (first.state === 'answered') return first.observation;
    drop();
    if (first.state === 'lost') return errorObservation(first.words);
    notes.push(words.endedBefore(first.how));
    const second = await askBrowser(await awake(context), order, request, context);
    if (second.state === 'answered') return second.observation;
    drop();
    return errorObservation(second.state === 'lost' ? second.words : words.notStarted(second.how));
  }

  async function answer(order: HostOrder, request: Request, context: HandlerContext): Promise<ObservationDraft> {
    clearTimeout(idle);
    const observation = await carryOut(order, request, context).catch((error: unknown) =>
      errorObservation(words.notStarted(reasonOf(error))),
    );
    idle = setTimeout(sleep, idleMs);
    idle.unref();
    if (observation.observation === 'browse') lastUrl = (observation as ObservationDraft<'browse'>).extras.url;
    const said = notes;
    notes = [];
    return said.length === 0 ? observation : { ...observation, content: [...said, observation.content].join('\n\n') };
  }

  function drop(): void {
    browser?.kill();
    browser = undefined;
  }

  function sleep(): void {
    if (browser === undefined || browser.hasEnded) return;
    isAsleep = true;
    browser.stop();
    browser = undefined;
  }

  return {
    browse(request, context) {
      const order = { type: 'browse', url: textArgument(request.args, 'url') } as const;
      return mutex.run(() => answer(order, request, context));
    },
    browseInteractive(request, context) {
      const text = textArgument(request.args, 'browser_actions');
      const parsed = parseActions(text);
      if (!parsed.ok) {
        const error = words.notParsed(parsed.error);
        return Promise.resolve(browseObservation({ trigger: 'browse_interactive', action: text, content: error, url: lastUrl, error }));
      }
      const message = textArgument(request.args, 'browsergym_send_msg_to_user');
      const order = { type: 'interact', calls: parsed.calls, text, message } as const;
      return mutex.run(() => answer(order, request, context));
    },
    warm: () =>
      mutex.run(async () => {
        await awake(NOBODY);
        clearTimeout(idle);
        idle = setTimeout(sleep, idleMs);
        idle.unref();
      }),
    isUp: () => browser !== undefined && !browser.hasEnded,
    close() {
      clearTimeout(idle);
      drop();
    },
  };
}
