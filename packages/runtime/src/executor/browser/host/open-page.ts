import { reasonOf } from '../../observation.ts';
import { pageUrl } from './page-url.ts';
import type { Tabs } from './tabs.ts';
import { within } from './within.ts';

export interface OpenedPage {
  /** Missing for what was not fetched (`data:`, `file:`) and for downloads. */
  readonly status?: number;
}

const NAVIGATION_MS = 30_000;
/** A navigation that becomes a download is given up first, and the download begins later: on a busy machine much later. */
const DOWNLOAD_MS = 5000;

/** What Chromium says when it cannot open a page, in words that help. */
const REASONS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY/,
    'the sandbox could not connect: the address is one it may not reach, or the host or the network does not answer',
  ],
  [/ERR_NAME_NOT_RESOLVED/, 'the name has no address'],
  [/ERR_CONNECTION_REFUSED/, 'nothing listens there'],
  [/ERR_UNSAFE_PORT/, 'browsers do not open that port'],
  [/ERR_INTERNET_DISCONNECTED|ERR_ADDRESS_(?:UNREACHABLE|INVALID)|ERR_NETWORK_ACCESS_DENIED/, 'the sandbox has no way there'],
  [/ERR_CERT|ERR_SSL/, 'its certificate or encryption is not acceptable'],
  [/ERR_CONNECTION_(?:RESET|CLOSED)|ERR_EMPTY_RESPONSE/, 'the server closed the connection without an answer'],
  [/ERR_TOO_MANY_REDIRECTS/, 'it redirects in a circle'],
  [/Timeout \d+ms exceeded/, `it did not load within ${NAVIGATION_MS / 1000} seconds`],
];

/** Opens an address in the page in use. Throws an Error whose message can be shown; a download is no failure. */
export async function openPage(tabs: Tabs, written: string, workspace: string): Promise<OpenedPage> {
  const target = pageUrl(written, workspace);
  if (!target.ok) throw new Error(target.error);
  const page = tabs.active;
  const begun = Promise.withResolvers<unknown>();
  page.once('download', begun.resolve);
  try {
    const response = await page.goto(target.url, { waitUntil: 'domcontentloaded', timeout: NAVIGATION_MS });
    if (response === null) return {};
    // The proxy's own answer, where there is one: not the page that was asked for.
    const refusal = response.headers()['proxy-status']?.startsWith('tendon') ? await response.text().catch(() => '') : '';
    if (refusal !== '') throw new Error(refusal.trim());
    return { status: response.status() };
  } catch (error) {
    const text = reasonOf(error);
    if (/Download is starting|ERR_ABORTED/.test(text)) {
      await within(DOWNLOAD_MS, begun.promise).catch(() => {}); // an answer without content ends in the same way
      return {};
    }
    const known = REASONS.find(([pattern]) => pattern.test(text));
    const code = /net::(\w+)/.exec(text)?.[1];
    throw new Error(
      `${target.url.slice(0, 300)} could not be opened: ${known?.[1] ?? text.split('\n')[0]!.slice(0, 300)}${known && code ? ` (${code})` : ''}`,
      { cause: error },
    );
  } finally {
    page.off('download', begun.resolve);
  }
}
