import { reasonOf } from '../../observation.ts';
import { pageUrl } from './page-url.ts';
import type { Tabs } from './tabs.ts';
import { whyUnopened } from './unopened.ts';
import { within } from './within.ts';

export interface OpenedPage {
  /** Missing for what was not fetched (`data:`, `file:`) and for downloads. */
  readonly status?: number;
}

const NAVIGATION_MS = 30_000;
/** A navigation that becomes a download is given up first, and the download begins later: on a busy machine much later. */
const DOWNLOAD_MS = 5000;

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
    const words = /Timeout \d+ms exceeded/.test(text) ? `it did not load within ${NAVIGATION_MS / 1000} seconds` : text;
    throw new Error(whyUnopened(target.url, words), { cause: error });
  } finally {
    page.off('download', begun.resolve);
  }
}
