import type { BrowserContext, Page } from 'playwright-core';

/** A page that could not be opened. */
export interface UnopenedPage {
  /** The requested address. */
  readonly url: string;
  /** In words. */
  readonly reason: string;
}

/** Helpful texts for Chromium's network errors. */
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
];

export function whyUnopened(url: string, text: string): string {
  const known = REASONS.find(([pattern]) => pattern.test(text));
  const code = /net::(\w+)/.exec(text)?.[1];
  return `${url.slice(0, 300)} could not be opened: ${known?.[1] ?? text.split('\n')[0]!.slice(0, 300)}${known && code ? ` (${code})` : ''}`;
}

/**
 * Chromium replaces a page that it could not open with an error page of its own, with its own address, pictures and hints.
 * Returns a function that recognizes such an error page, however it was opened; `undefined` for every other page.
 */
export function watchUnopened(context: BrowserContext): (page: Page) => UnopenedPage | undefined {
  const failed = new WeakMap<Page, UnopenedPage>();
  context.on('requestfailed', (request) => {
    // A service worker's request has no frame.
    if (!request.isNavigationRequest() || request.serviceWorker() !== null) return;
    const frame = request.frame();
    if (frame.parentFrame() !== null) return;
    failed.set(frame.page(), { url: request.url(), reason: whyUnopened(request.url(), request.failure()?.errorText ?? '') });
  });
  return (page) =>
    page.url().startsWith('chrome-error:') ? (failed.get(page) ?? { url: '', reason: 'the page could not be opened' }) : undefined;
}
