import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Frame, Locator, Page } from 'playwright-core';
import { reasonOf } from '../../action-handler.ts';
import type { HostRequest } from '../browser-host.ts';
import { openPage } from './open-page.ts';
import type { Settle } from './settle.ts';
import type { Tabs } from './tabs.ts';
import { within } from './within.ts';
import type { ActionName, ArgumentsOf, BrowserCall, Target } from '../language/signatures.ts';

export type Order = Exclude<HostRequest, { type: 'cancel' }>;

/** What became of an order, before the page is looked at. */
export interface OrderResult {
  /** Of the answer to the request for the page. */
  readonly status?: number;
  /** What the agent has to say to its user. */
  readonly messages: readonly string[];
  /** What went wrong; empty when nothing did. */
  readonly error: string;
}

export interface ActContext {
  readonly tabs: Tabs;
  readonly settle: Settle;
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
}

/** One call, with all the waiting that is in it; those that wait by themselves have longer. */
const CALL_MS = 25_000;
const WAITING_CALL_MS = 70_000;
const WAITING: ReadonlySet<string> = new Set(['goto', 'go_back', 'go_forward', 'noop', 'keyboard_type', 'fill']);

/** Carries out the calls one after the other up to the first that fails. Never rejects. */
export async function act(order: Order, context: ActContext): Promise<OrderResult> {
  const { tabs, settle, workspace, signal, output } = context;
  if (order.type === 'browse') {
    return within(WAITING_CALL_MS, openPage(tabs, order.url, workspace), signal).then(
      (opened) => ({ ...opened, messages: [], error: '' }),
      (error: unknown) => ({ messages: [], error: failureOf(error) }),
    );
  }
  const messages = order.message === '' ? [] : [order.message];
  for (const [index, call] of order.calls.entries()) {
    if (index > 0) await settle(tabs.active, signal);
    if (order.calls.length > 1) output(`${call.name}\n`);
    const doing = perform(call, { tabs, workspace, signal, showUser: (text) => messages.push(text) });
    const failure = await within(WAITING.has(call.name) ? WAITING_CALL_MS : CALL_MS, doing, signal).then(() => undefined, failureOf);
    if (failure === undefined) continue;
    const left = order.calls.length - index - 1;
    const rest =
      left === 0 ? '' : ` The ${left === 1 ? 'action' : `${left} actions`} after it ${left === 1 ? 'was' : 'were'} not carried out.`;
    return { messages, error: `${call.name} in line ${call.line}: ${failure}.${rest}` };
  }
  return { messages, error: '' };
}

/** The lines that matter of Playwright's message, which ends in a log of all its tries. */
function failureOf(error: unknown): string {
  const lines = reasonOf(error)
    .split('\n')
    // oxlint-disable-next-line no-control-regex -- colours
    .map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, '').trim());
  const first = (lines[0] ?? '').replace(/^(?:Error: )?[\w.]+: (?:Error: )?/, (call) => (/^[a-z]+\.\w+: /.test(call) ? '' : call));
  const why = lines.find((line) =>
    /intercepts pointer events|is not (?:visible|enabled|stable|editable|attached)|outside of the viewport/.test(line),
  );
  return `${first}${why === undefined || first.includes(why) ? '' : ` (${why.replace(/^-\s*/, '')})`}`.replace(/\.$/, '').slice(0, 600);
}

interface PerformContext {
  readonly tabs: Tabs;
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** A message of the agent for its user. */
  readonly showUser: (text: string) => void;
}

type Performer<N extends ActionName> = (args: ArgumentsOf<N>, context: PerformContext) => Promise<unknown>;

const ELEMENT_MS = 5000;
const NAVIGATION_MS = 30_000;
const MAX_WAIT_MS = 60_000;
const TYPING_MS = 20_000;

const FIND_MS = 3000;

/** Carries out one call. Throws an Error whose message says why it could not. */
async function perform(call: BrowserCall, context: PerformContext): Promise<void> {
  await (PERFORMERS[call.name] as (args: BrowserCall['args'], context: PerformContext) => Promise<unknown>)(call.args, context);
}

const limit = { timeout: ELEMENT_MS };

const PERFORMERS: { readonly [N in ActionName]: Performer<N> } = {
  goto: ({ url }, { tabs, workspace }) => openPage(tabs, url, workspace),
  go_back: (_args, { tabs }) => wentAnywhere(tabs.active.goBack({ timeout: NAVIGATION_MS, waitUntil: 'domcontentloaded' }), 'back'),
  go_forward: (_args, { tabs }) =>
    wentAnywhere(tabs.active.goForward({ timeout: NAVIGATION_MS, waitUntil: 'domcontentloaded' }), 'forward'),
  noop: ({ wait_ms }, { signal }) => delay(Math.min(Math.max(0, wait_ms), MAX_WAIT_MS), undefined, { signal }),
  scroll: ({ delta_x, delta_y }, { tabs }) => tabs.active.mouse.wheel(delta_x, delta_y),
  click: async ({ bid, button, modifiers }, { tabs }) => (await on(tabs, bid)).click({ button, modifiers: [...modifiers], ...limit }),
  dblclick: async ({ bid, button, modifiers }, { tabs }) => (await on(tabs, bid)).dblclick({ button, modifiers: [...modifiers], ...limit }),
  hover: async ({ bid }, { tabs }) => (await on(tabs, bid)).hover(limit),
  fill: async ({ bid, value, enable_autocomplete_menu }, { tabs }) => fill(await on(tabs, bid), value, enable_autocomplete_menu),
  clear: async ({ bid }, { tabs }) => (await on(tabs, bid)).clear(limit),
  focus: async ({ bid }, { tabs }) => (await on(tabs, bid)).focus(limit),
  press: async ({ bid, key_comb }, { tabs }) => (await on(tabs, bid)).press(key_comb, limit),
  check: async ({ bid }, { tabs }) => (await on(tabs, bid)).check(limit),
  uncheck: async ({ bid }, { tabs }) => (await on(tabs, bid)).uncheck(limit),
  select_option: async ({ bid, options }, { tabs }) => (await on(tabs, bid)).selectOption([...options], limit),
  drag_and_drop: async ({ from_bid, to_bid }, { tabs }) => (await on(tabs, from_bid)).dragTo(await on(tabs, to_bid), limit),
  upload_file: async ({ bid, file }, { tabs, workspace }) => upload(tabs.active, filesIn(workspace, file), await on(tabs, bid)),
  tab_new: (_args, { tabs }) => tabs.open(),
  tab_close: (_args, { tabs }) => tabs.close(),
  tab_focus: ({ index }, { tabs }) => tabs.focus(index),
  send_msg_to_user: async ({ text }, { showUser }) => showUser(text),
  report_infeasible: async ({ reason }, { showUser }) => showUser(`This cannot be done: ${reason}`),
  mouse_move: ({ x, y }, { tabs }) => tabs.active.mouse.move(x, y),
  mouse_down: async ({ x, y, button }, { tabs }) => {
    await tabs.active.mouse.move(x, y);
    await tabs.active.mouse.down({ button });
  },
  mouse_up: async ({ x, y, button }, { tabs }) => {
    await tabs.active.mouse.move(x, y);
    await tabs.active.mouse.up({ button });
  },
  mouse_click: ({ x, y, button }, { tabs }) => tabs.active.mouse.click(x, y, { button }),
  mouse_dblclick: ({ x, y, button }, { tabs }) => tabs.active.mouse.dblclick(x, y, { button }),
  mouse_drag_and_drop: async ({ from_x, from_y, to_x, to_y }, { tabs }) => {
    const { mouse } = tabs.active;
    await mouse.move(from_x, from_y);
    await mouse.down();
    await mouse.move(to_x, to_y, { steps: 8 });
    await mouse.up();
  },
  mouse_upload_file: ({ x, y, file }, { tabs, workspace }) =>
    upload(tabs.active, filesIn(workspace, file), { click: () => tabs.active.mouse.click(x, y) }),
  keyboard_press: ({ key }, { tabs }) => tabs.active.keyboard.press(key),
  keyboard_down: ({ key }, { tabs }) => tabs.active.keyboard.down(key),
  keyboard_up: ({ key }, { tabs }) => tabs.active.keyboard.up(key),
  keyboard_type: ({ text }, { tabs }) => tabs.active.keyboard.type(text),
  keyboard_insert_text: ({ text }, { tabs }) => tabs.active.keyboard.insertText(text),
};

function on(tabs: Tabs, target: Target): Promise<Locator> {
  return findTarget(tabs.active, target);
}

async function wentAnywhere(went: Promise<unknown>, where: string): Promise<void> {
  if ((await went) === null) throw new Error(`there is no page to go ${where} to`);
}

/** With a menu of suggestions every character must be typed. */
async function fill(locator: Locator, value: string, isTyped: boolean): Promise<void> {
  await locator.fill(isTyped ? '' : value, limit);
  if (isTyped) await locator.pressSequentially(value, { timeout: TYPING_MS });
}

function filesIn(workspace: string, names: readonly string[]): string[] {
  return names.map((name) => {
    const path = resolve(workspace, name);
    if (!existsSync(path)) throw new Error(`there is no file ${path}`);
    return path;
  });
}

/** Into a file input, or into the chooser that a click on something else opens. */
async function upload(page: Page, files: string[], place: Locator | { click(): Promise<void> }): Promise<void> {
  if ('setInputFiles' in place && (await place.evaluate((element) => (element as { type?: string }).type === 'file', undefined, limit))) {
    return place.setInputFiles(files, limit);
  }
  const [chooser] = await Promise.all([page.waitForEvent('filechooser', limit), place.click(limit)]);
  await chooser.setFiles(files, limit);
}

/** The element that an action names. Throws an Error whose message can be shown when there is none. */
async function findTarget(page: Page, target: Target): Promise<Locator> {
  if (target.by === 'css') {
    const found = page.locator(target.selector).first();
    const wait = found.waitFor({ state: 'attached', timeout: FIND_MS }); // it may be about to appear
    await wait.catch(() => Promise.reject(new Error(`nothing on the page matches the selector ${target.selector}`)));
    return found;
  }
  const frame = await frameOf(page, target.bid);
  const found = frame.locator(withBid(target.bid));
  if ((await within(FIND_MS, found.count())) === 0) throw new Error(`there is no element with the id ${target.bid} on the page now`);
  return found.first();
}

/** `aB12` is element 12 of the frame `aB`; `ab3` is in the frame `ab`, which is in the frame `a`. */
async function frameOf(page: Page, bid: string): Promise<Frame> {
  const letters = /^(?:[a-z][A-Z]*)*/.exec(bid)?.[0] ?? '';
  const steps = letters.match(/[a-z][A-Z]*/g) ?? [];
  if (letters === bid) steps.pop(); // the element is a frame itself
  let frame = page.mainFrame();
  let prefix = '';
  for (const step of steps) {
    prefix += step;
    const owner = await within(FIND_MS, frame.locator(withBid(prefix)).first().elementHandle({ timeout: FIND_MS })).catch(() => null);
    const inner = owner && (await within(FIND_MS, owner.contentFrame()));
    if (!inner) throw new Error(`there is no frame with the id ${prefix} on the page now`);
    frame = inner;
  }
  return frame;
}

function withBid(bid: string): string {
  return `[bid="${bid}"]`;
}
