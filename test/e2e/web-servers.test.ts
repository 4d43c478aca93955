/** Several servers in one page, in Chromium: who is asked, with which key, and what one that is not there does to the others. */
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { expectAccessible, launchBrowser, openPage } from './web-browser.ts';

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser()));
afterAll(() => browser.close());

const KEY = 'open-sesame-and-more-1';
const NOBODY = 'http://127.0.0.1:9';

it('CL1242 SV1081: the page shows another server with its key, asks nobody who was not added, and one that is not there harms nothing', async () => {
  const [home, other] = await Promise.all([TendonProcess.start(), TendonProcess.start({ SESSION_API_KEY: KEY })]);
  onTestFinished(async () => void (await Promise.all([home.remove(), other.remove()])));
  const page = await openPage(browser, `${home.url}/settings/connections`, { servers: [other.url, NOBODY] });
  const keyed = new Set<string>();
  page.on('request', (request) => {
    if (JSON.stringify([request.url(), request.headers()]).includes(KEY)) keyed.add(new URL(request.url()).origin);
  });
  const probe = (address: string) => `fetch('${address}/alive').then(() => 'asked', () => 'not asked')`;
  expect(await page.evaluate(probe(other.url))).toBe('not asked');

  const servers = page.getByRole('list', { name: 'Servers' });
  const row = (address: string) => servers.getByRole('listitem').filter({ hasText: new URL(address).host });
  const add = async (address: string, key: string) => {
    await page.getByRole('textbox', { name: 'Address' }).fill(address);
    await page.getByLabel('Key of that server').fill(key);
    await page.getByRole('button', { name: 'Add the server' }).click();
    await row(address).waitFor();
  };
  await add(other.url, KEY);
  await row(other.url).getByText('Connected').waitFor();
  await add(NOBODY, '');
  await row(NOBODY)
    .getByText(/does not answer, or does not allow this page: set PERMITTED_CORS_ORIGINS=http/)
    .waitFor();
  await row(home.url).getByText('Connected').waitFor();
  await expectAccessible(page);
  const { headers } = await fetch(home.url, { headers: { accept: 'text/html' } });
  expect(headers.get('content-security-policy')).toContain(`connect-src 'self' ws: wss: ${other.url} ${NOBODY};`);
  const odd = await fetch(`${home.url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ connected_servers: ["http://a; script-src 'unsafe-inline'"] }),
  });
  expect(odd.status).toBe(422);

  await page.getByRole('button', { name: `Show ${new URL(other.url).host}` }).click();
  await page.getByRole('link', { name: `On ${new URL(other.url).host}` }).waitFor();
  await page.getByRole('textbox', { name: 'Task' }).fill('create a file named there.txt with the text hi');
  await page.getByRole('textbox', { name: 'Task' }).press('Enter');
  await page.getByRole('article', { name: /^Done/ }).waitFor();
  await page.reload();
  await page.getByRole('article', { name: /^Done/ }).waitFor();
  expect((await home.conversations()).length).toBe(0);
  expect([...keyed].map((origin) => origin.replace('ws:', 'http:'))).toEqual([other.url]);

  await page.goto(`${home.url}/settings/connections`);
  await page.getByRole('button', { name: `Forget ${new URL(other.url).host}` }).click();
  await row(other.url).waitFor({ state: 'detached' });
  await row(home.url).getByText('Shown on this page').waitFor();
  expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(KEY);
});
