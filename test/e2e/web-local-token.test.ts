/** The web app of a server on loopback that asks for a token: opened by the printed address, in Chromium. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, openPage } from './web-browser.ts';

let browser: Browser;
let tendon: TendonProcess;
beforeAll(async () => {
  browser = await launchBrowser();
  tendon = await TendonProcess.start({ TENDON_LOCAL_TOKEN: '1' });
});
afterAll(async () => {
  await browser.close();
  await tendon.remove();
});

it('SV491: the printed address signs the browser in, and the token is gone from it; another browser is asked for the key', async () => {
  const token = readFileSync(join(tendon.home, 'session-api-key'), 'utf8');
  const page = await openPage(browser, `${tendon.url}/?token=${token}`);
  await page.waitForURL(`${tendon.url}/`);
  const message = page.getByRole('textbox').first();
  await message.fill('create a file named token.txt with the text hi');
  await message.press('Enter');
  // Reading, changing and the socket: all of them by the session.
  await page.getByRole('article', { name: /^Done/ }).waitFor();
  expect(await page.evaluate('JSON.stringify([location.href, document.cookie, { ...localStorage }, history.state])')).not.toContain(token);
  await page.reload();
  await page.getByRole('article', { name: /^Done/ }).waitFor();

  const stranger = await openPage(browser, tendon.url);
  await stranger.getByText('Enter the access key of this server.').waitFor();
});
