import { reasonOf } from '../../observation.ts';
import type { HostRequest } from '../browser-lines.ts';
import { openPage } from './open-page.ts';
import { perform } from './perform.ts';
import type { Settle } from './settle.ts';
import type { Tabs } from './tabs.ts';
import { within } from './within.ts';

export type Order = Exclude<HostRequest, { type: 'cancel' }>;

/** What became of an order, before the page is looked at. */
export interface Done {
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
export async function act(order: Order, context: ActContext): Promise<Done> {
  const { tabs, settle, workspace, signal, output } = context;
  if (order.type === 'browse') {
    return within(WAITING_CALL_MS, openPage(tabs, order.url, workspace), signal).then(
      (opened) => ({ ...opened, messages: [], error: '' }),
      (error: unknown) => ({ messages: [], error: told(error) }),
    );
  }
  const messages = order.message === '' ? [] : [order.message];
  for (const [index, call] of order.calls.entries()) {
    if (index > 0) await settle(tabs.active, signal);
    if (order.calls.length > 1) output(`${call.name}\n`);
    const doing = perform(call, { tabs, workspace, signal, tell: (text) => messages.push(text) });
    const failure = await within(WAITING.has(call.name) ? WAITING_CALL_MS : CALL_MS, doing, signal).then(() => undefined, told);
    if (failure === undefined) continue;
    const left = order.calls.length - index - 1;
    const rest =
      left === 0 ? '' : ` The ${left === 1 ? 'action' : `${left} actions`} after it ${left === 1 ? 'was' : 'were'} not carried out.`;
    return { messages, error: `${call.name} in line ${call.line}: ${failure}.${rest}` };
  }
  return { messages, error: '' };
}

/** The telling lines of what Playwright says, which ends in a log of all its tries. */
function told(error: unknown): string {
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
