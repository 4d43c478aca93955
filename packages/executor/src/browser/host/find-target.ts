import type { Frame, Locator, Page } from 'playwright-core';
import type { Target } from '../language/signatures.ts';
import { within } from './within.ts';

const FIND_MS = 3000;

/** The element that an action names. Throws an Error whose message can be shown when there is none. */
export async function findTarget(page: Page, target: Target): Promise<Locator> {
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
