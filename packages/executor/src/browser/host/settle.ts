import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { within } from './within.ts';

/** Waits until a page is loaded and its requests are answered. The wait is bounded: a page that never settles is taken as it is. */
export interface Settle {
  (page: Page, signal: AbortSignal): Promise<void>;
}

const BEGIN_MS = 60;
const LOAD_MS = 8000;
const QUIET_MS = 120;
const MAX_BUSY_MS = 3000;
/** These stay open for as long as the page does. */
const ENDLESS = new Set(['websocket', 'eventsource', 'media', 'ping']);

export function createSettle(context: BrowserContext): Settle {
  const open = new Set<Request>();
  context.on('request', (request) => ENDLESS.has(request.resourceType()) || open.add(request));
  context.on('requestfinished', (request) => open.delete(request));
  context.on('requestfailed', (request) => open.delete(request));
  context.on('page', (page) => page.on('close', () => forget(page)));

  function forget(page: Page): void {
    for (const request of open) if (pageOf(request) === page) open.delete(request);
  }

  function isBusy(page: Page): boolean {
    return [...open].some((request) => pageOf(request) === page);
  }

  return async (page, signal) => {
    await delay(BEGIN_MS, undefined, { signal }).catch(() => {}); // what an action has set off begins now
    await within(LOAD_MS, page.waitForLoadState('load'), signal).catch(() => {});
    const end = Date.now() + MAX_BUSY_MS;
    for (let quiet = 0; quiet < QUIET_MS && Date.now() < end && !signal.aborted; quiet = isBusy(page) ? 0 : quiet + BEGIN_MS) {
      await delay(BEGIN_MS, undefined, { signal }).catch(() => {});
    }
    if (isBusy(page)) forget(page); // a request that never ends holds up one action only
  };
}

/** A service worker's requests belong to no page. */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}
