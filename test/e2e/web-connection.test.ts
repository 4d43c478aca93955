/** What the page shows of its connection, in Chromium, from a server of made-up conversations that goes away and comes back. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { expectAccessible, launchBrowser, openPage } from './web-browser.ts';

interface Fixture {
  readonly url: string;
  close(): Promise<void>;
}
type StartFixture = (options?: { port?: number }) => Promise<Fixture>;

let browser: Browser;
let startFixture: StartFixture;
beforeAll(async () => {
  browser = await launchBrowser();
  // Plain JavaScript of the web package's own tooling.
  ({ startFixture } = (await import(new URL('../../packages/web/dev/fixture-server.mjs', import.meta.url).href)) as {
    startFixture: StartFixture;
  });
});
afterAll(() => browser.close());

/** Where what a person reads, chooses and writes in stands. */
const places = (page: Page) =>
  page.evaluate<readonly number[]>(`['.stream', '.tab-bar', '.state-line', '#composer'].flatMap((selector) => {
    const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
    return [x, y, width, height];
  })`);

it.each([
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])('CL1334: losing the connection and getting it back is shown beside the state, and moves nothing, at $width px', async (size) => {
  const fixture = await startFixture();
  const page = await openPage(browser, `${fixture.url}/conversations/done`, size);
  const state = page.locator('.state-line');
  await state.getByText('Done', { exact: true }).first().waitFor();
  const before = await places(page);
  await fixture.close();
  // On a busy machine it is offline by the time that it is looked at.
  const away = state.locator('.connection').getByText(/^(?:Reconnecting…|Offline)/);
  await away.waitFor();
  await state.getByText(/^Done, as of .+ ago$/).waitFor();
  await expectAccessible(page);
  expect(await places(page)).toEqual(before);
  const again = await startFixture({ port: Number(new URL(fixture.url).port) });
  onTestFinished(() => again.close());
  await away.waitFor({ state: 'detached' });
  await state.getByText('Done', { exact: true }).first().waitFor();
  expect(await places(page)).toEqual(before);
});

it('CL1334: a page that is no longer let in asks for the key where the next message is written', async () => {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  const page = await openPage(browser, fixture.url);
  await page.routeWebSocket(/socket\.io/, (socket) => {
    socket.onMessage((message) => {
      if (String(message).startsWith('40')) socket.send('44{"message":"This server wants a key","data":{"msg_id":"AUTH$INVALID_KEY"}}');
    });
    socket.send('0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}');
  });
  await page.goto(`${fixture.url}/conversations/done`);
  const refused = page.getByRole('alert', { name: 'Connection' });
  await refused.getByLabel('Key of this server').waitFor();
  await expectAccessible(page);
});

it('CL1347: a part whose file cannot be fetched while the server is away is fetched when it is back', async () => {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  // What a worker has fetched before would be there.
  const context = await browser.newContext({ serviceWorkers: 'block' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  let isAway = true;
  await page.route(/\/assets\/receipt-row|\/alive$/, (route) => (isAway ? route.abort() : route.fallback()));
  const looksForServer = page.waitForRequest(/\/alive$/);
  await page.goto(`${fixture.url}/conversations/done`);
  await looksForServer;
  await page.locator('.state-line').getByText('Done', { exact: true }).first().waitFor();
  expect(await page.locator('.receipt').count()).toBe(0);
  isAway = false;
  await page.locator('.receipt').first().waitFor();
});
