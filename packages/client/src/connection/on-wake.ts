/** What of a browser's page is listened to; another program has none of it. */
interface Page {
  readonly addEventListener?: EventTarget['addEventListener'];
  readonly document?: EventTarget & { readonly visibilityState: string };
}

/** In a browser: calls when the network is back, and when a page is shown that was hidden. Any other program never calls it. */
export function onWake(wake: () => void, signal: AbortSignal): void {
  const page = globalThis as Page;
  page.addEventListener?.('online', wake, { signal });
  page.document?.addEventListener('visibilitychange', () => page.document?.visibilityState === 'visible' && wake(), { signal });
}
