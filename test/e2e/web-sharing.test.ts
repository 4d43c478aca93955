/** The web app in Chromium: a conversation is shown to somebody else, what its programs serve is opened, and a browser signs out. */
import { itInFull } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible, expectVisible, focusedName, launchBrowser, openPage } from './web-browser.ts';

const KEY = 'the-key-of-the-owner';
const PATIENT = { timeout: 60_000 };

let browser: Browser;
let tendon: TendonProcess;
beforeAll(async () => {
  browser = await launchBrowser();
  tendon = await TendonProcess.start({ SESSION_API_KEY: KEY });
});
afterAll(async () => {
  await browser.close();
  await tendon.remove();
});

const owner = { 'content-type': 'application/json', 'x-session-api-key': KEY };

async function create(): Promise<string> {
  const made = await fetch(`${tendon.url}/api/conversations`, { method: 'POST', headers: owner, body: '{}' });
  return ((await made.json()) as { conversation_id: string }).conversation_id;
}

async function act(id: string, action: string, args: object): Promise<void> {
  const url = `${tendon.url}/api/conversations/${id}/events`;
  expect((await fetch(url, { method: 'POST', headers: owner, body: JSON.stringify({ action, args }) })).status).toBe(200);
}

/** In by the login page, as from another machine. */
async function signIn(theme: 'light' | 'dark', path: string): Promise<Page> {
  const page = await openPage(browser, `${tendon.url}/login?next=${encodeURIComponent(path)}`, { theme });
  await page.getByLabel('Key').fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(tendon.url + path);
  return page;
}

it('CL31 CL32: a link is made and opened, shows what happens, and ends for who watches when it is revoked', async () => {
  const id = await create();
  const page = await signIn('light', `/conversations/${id}`);
  await page.getByRole('button', { name: 'Share read-only' }).focus();
  await page.keyboard.press('Enter');
  const popup = page.getByRole('dialog', { name: 'Share read-only' });
  await popup.getByLabel('Expires in').selectOption('a day');
  await popup.getByRole('button', { name: 'Create link' }).click();
  const link = await popup.getByLabel('Link', { exact: true }).inputValue();
  expect(link).toMatch(new RegExp(`^${tendon.url}/shared/${id}#\\S{40,}$`));
  await popup
    .getByRole('listitem')
    .getByText(/not opened yet/)
    .waitFor();
  await expectAccessible(page);

  const watcher = await openPage(browser, link, { theme: 'dark' });
  await watcher.getByText('View only').waitFor();
  expect(await watcher.getByRole('textbox').count()).toBe(0);
  await act(id, 'message', { content: 'create a file named shared.txt with the text hi' });
  await watcher.getByRole('article', { name: /^Wrote shared\.txt/ }).waitFor();
  await watcher.getByRole('article', { name: /^Done/ }).waitFor();
  await expectAccessible(watcher);
  await expectOnlyLogged(watcher, id, link.slice(link.indexOf('#') + 1));

  await popup.getByRole('button', { name: /^Revoke the link that expires / }).click();
  await watcher.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  await expectAccessible(watcher);
  await watcher.reload();
  await watcher.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  await expect.poll(() => popup.getByRole('listitem').count(), PATIENT).toBe(0);
  await page.keyboard.press('Escape');
  expect(await focusedName(page)).toBe('Share read-only');
});

/** The edits of the log are shown, and nothing that only the workspace has: the page asks for none of it, and the link would not get it. */
async function expectOnlyLogged(watcher: Page, id: string, share: string): Promise<void> {
  const refused: string[] = [];
  watcher.on('response', (answer) => void (answer.status() >= 400 && refused.push(answer.url())));
  await watcher.reload();
  await watcher.getByRole('heading', { level: 1, name: /^create a file named shared/ }).waitFor();
  await watcher.getByRole('tab', { name: 'Changes 1' }).waitFor();
  expect(await watcher.getByRole('tab').allTextContents()).toEqual(['Changes1', 'Plan', 'Events']);
  await watcher.getByRole('region', { name: '/workspace/shared.txt' }).getByText('hi').waitFor();
  await expectAccessible(watcher);
  await watcher.getByRole('article', { name: /^Wrote shared\.txt/ }).hover();
  await watcher
    .getByRole('article', { name: /^Wrote shared\.txt/ })
    .getByRole('button', { name: 'View source' })
    .click();
  await watcher.getByRole('tab', { name: 'Events', selected: true }).waitFor();
  await watcher.getByRole('tab', { name: 'Changes 1' }).click();
  await watcher.setViewportSize({ width: 390, height: 844 });
  await watcher.getByRole('region', { name: '/workspace/shared.txt' }).waitFor();
  await expectAccessible(watcher);
  await watcher.getByRole('tab', { name: 'Conversation' }).click();
  await watcher.getByRole('article', { name: /^Done/ }).waitFor();
  expect(refused).toEqual([]);
  for (const path of ['changes', 'changes/file?path=shared.txt', 'git/changes', 'files/tree']) {
    const { status } = await fetch(`${tendon.url}/api/conversations/${id}/${path}`, { headers: { 'x-tendon-share': share } });
    expect([path, status]).toEqual([path, 403]);
  }
}

itInFull('CL31: in the dark, and from the palette', async () => {
  const page = await signIn('dark', `/conversations/${await create()}`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('share read');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('dialog').getByRole('listitem').waitFor();
  await expectAccessible(page);
});

it('CL34 CL975: what a program serves is shown in the tab, opens on its own origin, and goes when it ends', async () => {
  const id = await create();
  const page = await signIn('light', `/conversations/${id}`);
  await page.getByRole('tab', { name: 'App' }).click();
  await page.getByText('Nothing is being served').waitFor();
  await act(id, 'run', {
    command:
      'mkdir -p site && echo "<!doctype html><html lang=en><title>served here</title><h1>hello</h1>" > site/index.html && (cd site && setsid python3 -m http.server 8123 >/dev/null 2>&1 &)',
  });
  const open = page.getByRole('link', { name: 'Open app on port 8123' });
  await open.waitFor();
  await page.getByRole('tab', { name: 'App 1' }).waitFor();
  await page.getByTitle('App on port 8123').contentFrame().getByRole('heading', { name: 'hello' }).waitFor();
  await expectAccessible(page);
  const [app] = await Promise.all([page.context().waitForEvent('page'), open.click()]);
  await expect.poll(() => app.title(), PATIENT).toBe('served here');
  expect(new URL(app.url()).hostname).toMatch(/^8123-[0-9a-f]{32}\.localhost$/);
  await app.close();
  await act(id, 'run', { command: 'pkill -f "http.server 8123"' });
  await page.getByText('Nothing is being served').waitFor();
});

it('CL33: who signs out has to sign in again', async () => {
  const page = await signIn('light', '/');
  await page.getByRole('textbox', { name: 'Task' }).waitFor();
  expect((await page.context().cookies()).length).toBeGreaterThan(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('sign out');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await expectVisible(page.getByLabel('Key of this server'));
  expect((await page.context().cookies()).map(({ value }) => value).join('')).toBe('');
  const refused = await page.evaluate<number>(`fetch('/api/conversations').then(({ status }) => status)`);
  expect(refused).toBe(401);
  await expectAccessible(page);
});
