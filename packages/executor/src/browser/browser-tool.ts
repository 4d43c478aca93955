import { Mutex } from '@tendon/protocol/async';
import type { ObservationDraft } from '@tendon/protocol';
import { flagArgument, textArgument, type HandlerContext, type ActionRequest, errorObservation, reasonOf } from '../action-handler.ts';
import type { BrowserHost, HostOrder } from './browser-host.ts';
import { browseObservation } from './browse-observation.ts';
import { startBrowserProcess, type BrowserProcess } from './browser-process.ts';
import { within } from './host/within.ts';
import { parseActions } from './language/parse-actions.ts';

export interface BrowserToolOptions {
  /** `startUrl` is opened by one that wakes up. */
  readonly startHost: (startUrl?: string) => Promise<BrowserHost>;
  /** After so long without use the browser ends. */
  readonly idleMs: number;
}

/** What the tool reports about the browser itself. */
const STARTED = 'Starting the browser …\n';

const START_MS = 70_000;
const NOBODY: HandlerContext = { signal: new AbortController().signal, output: () => {}, outputPath: () => undefined };

type OrderOutcome =
  | { readonly state: 'answered'; readonly observation: ObservationDraft }
  /** It did not answer and must be ended; what it did is not known. */
  | { readonly state: 'lost'; readonly words: string }
  /** It had ended before the order reached it: nothing was carried out. */
  | { readonly state: 'never-taken'; readonly how: string };

const DEFAULT_TIMEOUT_SECONDS = 120;
/** What the host may take beyond the deadline of the action: it comes to rest and is looked at. */
const AFTER_MS = 75_000;
const CANCEL_MS = 10_000;

/**
 * The rules of `browse` and `browse_interactive`. Owns at most one browser, which starts with the first action and again after
 * it has ended.
 *
 * 1. Actions are taken one after the other; what cannot be understood is refused before a browser starts.
 * 2. An action ends with the browser's answer, or with why there is none; then the browser is gone and the next action has a new one.
 * 3. An order that a browser has taken is given to no other.
 */
export class BrowserTool {
  readonly #startHost: BrowserToolOptions['startHost'];
  readonly #idleMs: number;
  readonly #mutex = new Mutex();
  #browser: BrowserProcess | undefined;
  /** Shown with the next answer. */
  #notes: string[] = [];
  #wasClosedIdle = false;
  #lastUrl = '';
  #idle: NodeJS.Timeout | undefined;

  constructor({ startHost, idleMs }: BrowserToolOptions) {
    this.#startHost = startHost;
    this.#idleMs = idleMs;
  }

  async browse(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    const order = { type: 'browse', url: textArgument(request.args, 'url') } as const;
    return this.#mutex.run(() => this.#answer(order, request, context));
  }

  async browseInteractive(request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    const text = textArgument(request.args, 'browser_actions');
    const parsed = parseActions(text);
    if (!parsed.ok) {
      const error = notParsed(parsed.error);
      return Promise.resolve(browseObservation({ trigger: 'browse_interactive', action: text, content: error, url: this.#lastUrl, error }));
    }
    const message = textArgument(request.args, 'browsergym_send_msg_to_user');
    const order = { type: 'interact', calls: parsed.calls, text, message } as const;
    return this.#mutex.run(() => this.#answer(order, request, context));
  }

  /** Starts the browser ahead of the first action; rejects with why there is none. */
  warm(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#running(NOBODY);
      this.#endWhenIdle();
    });
  }

  isUp(): boolean {
    return this.#browser !== undefined && !this.#browser.hasEnded;
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#drop();
  }

  /** The browser; rejects with why there is none. */
  async #running({ signal, output }: HandlerContext, startUrl?: string): Promise<BrowserProcess> {
    if (this.#browser !== undefined && !this.#browser.hasEnded) return this.#browser;
    if (this.#browser !== undefined) this.#notes.push(endedBefore(await this.#browser.ended));
    if (this.#wasClosedIdle) this.#notes.push(closedWhenIdle(this.#idleMs / 1000));
    output(STARTED);
    this.#browser = startBrowserProcess(await this.#startHost(this.#wasClosedIdle ? startUrl : undefined));
    this.#wasClosedIdle = false;
    try {
      const { note } = await within(START_MS, this.#browser.ready, signal);
      if (note !== undefined) output(`${note}\n`);
      return this.#browser;
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  async #carryOut(order: HostOrder, request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    const startUrl = order.type === 'interact' && /^https?:/.test(this.#lastUrl) ? this.#lastUrl : undefined;
    const first = await askBrowser(await this.#running(context, startUrl), order, request, context);
    if (first.state === 'answered') return first.observation;
    this.#drop();
    if (first.state === 'lost') return errorObservation(first.words);
    this.#notes.push(endedBefore(first.how));
    const second = await askBrowser(await this.#running(context), order, request, context);
    if (second.state === 'answered') return second.observation;
    this.#drop();
    return errorObservation(second.state === 'lost' ? second.words : notStarted(second.how));
  }

  async #answer(order: HostOrder, request: ActionRequest, context: HandlerContext): Promise<ObservationDraft> {
    clearTimeout(this.#idle);
    const observation = await this.#carryOut(order, request, context).catch((error: unknown) =>
      errorObservation(notStarted(reasonOf(error))),
    );
    this.#endWhenIdle();
    if (observation.observation === 'browse') this.#lastUrl = (observation as ObservationDraft<'browse'>).extras.url;
    const notes = this.#notes;
    this.#notes = [];
    return notes.length === 0 ? observation : { ...observation, content: [...notes, observation.content].join('\n\n') };
  }

  #drop(): void {
    this.#browser?.kill();
    this.#browser = undefined;
  }

  #closeIdle(): void {
    if (this.#browser === undefined || this.#browser.hasEnded) return;
    this.#wasClosedIdle = true;
    this.#browser.stop();
    this.#browser = undefined;
  }

  /** Without another action it ends after a while. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#closeIdle(), this.#idleMs);
    this.#idle.unref();
  }
}

/** Has one order carried out; ends by the browser's answer, its end, or a deadline. Never rejects. */
async function askBrowser(
  process: BrowserProcess,
  order: HostOrder,
  request: ActionRequest,
  context: HandlerContext,
): Promise<OrderOutcome> {
  const { signal, output } = context;
  const deadlineMs = (request.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const withTree = flagArgument(request.args, 'return_axtree');
  let isTaken = false;
  const asked = process.ask(order, { withTree, deadlineMs, signal, output, onTaken: () => (isTaken = true) });
  const { promise: lost, resolve: lose } = Promise.withResolvers<OrderOutcome>();
  const timers = [setTimeout(() => lose({ state: 'lost', words: killed('late') }), deadlineMs + AFTER_MS)];
  const onCancel = (): void => {
    timers.push(setTimeout(() => lose({ state: 'lost', words: killed('cancelled') }), CANCEL_MS));
  };
  if (signal.aborted) onCancel();
  else signal.addEventListener('abort', onCancel, { once: true });
  const answered = asked.then((observation): OrderOutcome => ({ state: 'answered', observation: checked(observation) }));
  const ended = process.ended.then((how): OrderOutcome =>
    isTaken ? { state: 'lost', words: endedMeanwhile(how) } : { state: 'never-taken', how },
  );
  const outcome = await Promise.race([answered, ended, lost]);
  signal.removeEventListener('abort', onCancel);
  for (const timer of timers) clearTimeout(timer);
  return outcome;
}

/** An answer in the shape it must have, or one that says that it has not: what runs there has met many pages. */
function checked(answer: ObservationDraft): ObservationDraft {
  const isFine = ['browse', 'download', 'error'].includes(answer?.observation) && typeof answer.content === 'string';
  return isFine ? answer : errorObservation('The browser gave an answer that cannot be used.');
}

function notStarted(reason: string): string {
  return `There is no browser: ${reason}`;
}

function endedBefore(how: string): string {
  return `The browser had ended since the last action (${how}). A new one was started; its tabs are gone, it has the cookies that the old one had saved.`;
}

function closedWhenIdle(seconds: number): string {
  return `The browser was closed after ${seconds} seconds without use, and was started again. Its tabs are gone but the one in use; its cookies are there.`;
}

function endedMeanwhile(how: string): string {
  return `The browser ended while the action was carried out (${how}). What the action had done on the page by then may have taken effect; its tabs are gone. The next action starts a new browser.`;
}

function killed(why: 'cancelled' | 'late'): string {
  const cause = why === 'cancelled' ? 'The action was cancelled, and the browser did not stop' : 'The browser did not answer in time';
  return `${cause}: it was ended. What the action had done on the page by then may have taken effect. The next action starts a new browser.`;
}

function notParsed(error: string): string {
  return `Nothing was carried out: ${error}`;
}
