/** What an agent serves tries to lock the previews of another conversation out, by cookies for the names above its own. In Chromium. */
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { executorFolder } from '@tendon/runtime/testing';
import { preview } from './open-preview.ts';
import { launchBrowser } from './web-browser.ts';

let browser: Browser;
beforeAll(async () => {
  executorFolder();
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Runs in the page: as much as a browser takes, for every name above this one. */
const FLOOD = `(() => {
  const labels = location.hostname.split('.');
  for (let from = 1; from < labels.length; from += 1)
    for (let n = 0; n < 30; n += 1) document.cookie = 'flood' + n + '=' + 'x'.repeat(4000) + '; path=/; domain=' + labels.slice(from).join('.');
  return document.cookie.length;
})()`;

it('SV494: cookies that a preview sets for the names above it reach neither another conversation’s preview nor the app', async () => {
  const [hostile, other] = [await preview(), await preview()];
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(hostile.link.href);
  await page.getByText('page /').waitFor();
  const stored = await page.evaluate<number>(FLOOD);
  const shown = await page.goto(other.link.href);
  expect([stored, shown?.status()]).toEqual([stored, 200]);
  expect((await page.goto(`http://localhost:${hostile.link.port}/alive`))?.status()).toBe(200);
  expect(new Set((await context.cookies(other.link.href)).map(({ name }) => name))).toEqual(new Set(['tendon_preview']));
  await context.close();
});

/** A frame in `parent` that shows `url`, once it has loaded whatever it may. */
async function framed(page: Page, parent: Frame, url: string): Promise<Frame> {
  await parent.evaluate(
    `new Promise((loaded) => {
      const frame = document.createElement('iframe');
      frame.onload = loaded;
      frame.src = ${JSON.stringify(url)};
      document.body.append(frame);
    })`,
  );
  return page.frames().findLast((frame) => frame.parentFrame() === parent)!;
}

itInFull('SV494: the app shows a preview in a frame, and another preview does not, by itself or in the app', async () => {
  const [hostile, other] = [await preview(), await preview()];
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://localhost:${other.link.port}/`);
  const shown = await framed(page, page.mainFrame(), other.link.href);
  expect(await shown.textContent('body')).toBe('page /');
  const inApp = await framed(page, page.mainFrame(), hostile.link.href);
  expect(await inApp.textContent('body')).toBe('page /');
  const nested = await framed(page, inApp, `${new URL(other.link.href).origin}/`);
  await expect.poll(() => nested.url()).toMatch(/^chrome-error:/);
  await page.goto(hostile.link.href);
  const alone = await framed(page, page.mainFrame(), other.link.href);
  await expect.poll(() => alone.url()).toMatch(/^chrome-error:/);
  await context.close();
});
