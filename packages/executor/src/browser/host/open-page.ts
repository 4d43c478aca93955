import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reasonOf } from '../../action-handler.ts';
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

type PageUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly error: string };

const SCHEMES = 'http, https, about:blank, data, view-source, and file within the workspace';
const LOCAL_NAME = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w.-]+\.localhost)(?:[:/?#]|$)/i;

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

/** What a model or a person wrote as an address, as the URL to open. Without a scheme it is a path, a local server or an https site. */
function pageUrl(written: string, workspace: string): PageUrl {
  const text = written.trim();
  if (text === '') return { ok: false, error: 'the address is empty' };
  if (text.startsWith('/')) return fileUrl(pathToFileURL(text), workspace);
  // "localhost:3000" and "example.com:8080" look like schemes and are none.
  const hasScheme = /^[a-z][a-z\d+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(text);
  const url = URL.parse(hasScheme ? text : `${LOCAL_NAME.test(text) ? 'http' : 'https'}://${text}`);
  if (url === null) return { ok: false, error: `"${text.slice(0, 200)}" is not an address` };
  switch (url.protocol) {
    case 'http:':
    case 'https:':
    case 'data:':
      return { ok: true, url: url.href };
    case 'about:':
      return url.href === 'about:blank' ? { ok: true, url: url.href } : refused(url);
    case 'file:':
      return fileUrl(url, workspace);
    case 'view-source:': {
      const inner = pageUrl(url.href.slice('view-source:'.length), workspace);
      return inner.ok ? { ok: true, url: `view-source:${inner.url}` } : inner;
    }
    default:
      return refused(url);
  }
}

function refused(url: URL): PageUrl {
  return { ok: false, error: `addresses with ${url.protocol} are not opened; there are ${SCHEMES}` };
}

function fileUrl(url: URL, workspace: string): PageUrl {
  try {
    const path = realpathSync(fileURLToPath(url));
    if (`${path}${sep}`.startsWith(`${realpathSync(workspace)}${sep}`)) return { ok: true, url: url.href };
    return { ok: false, error: `${path} is outside of the workspace ${workspace}: read it with the shell` };
  } catch {
    return { ok: false, error: `there is no file ${url.href}` };
  }
}
