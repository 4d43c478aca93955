/** What a sandbox asks of a person, in Chromium: the card, its answers, and what is left of it after a reload. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { internetOfThisMachine } from '../../packages/server/src/conversations/network/network.test-support.ts';
import { expectAccessible, expectVisible, focusedName, launchBrowser, openPage } from './web-browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const OWNER_KEY = 'open-sesame-and-more-1';
/** Tried until it is let through. */
const reach = (...hosts: readonly string[]): string =>
  `${hosts.map((host) => `(until curl -sSf -m 60 http://${host}/ 2>/dev/null; do sleep 0.2; done) &`).join(' ')} wait`;
const card = (page: Page, place?: string) =>
  page.getByRole('region', { name: 'Network question' }).filter(place === undefined ? {} : { hasText: `wants to reach ${place}` });

/** A server whose sandboxes go by the list, and whose agents run this command. */
async function asking(command: string, env: Readonly<Record<string, string>> = {}): Promise<TendonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-web-'));
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify([{ text: '', toolCalls: [{ name: 'execute_bash', arguments: { command } }] }, { text: 'It ran.' }]));
  const internet = await internetOfThisMachine();
  const tendon = await TendonProcess.start({ LLM_MODEL: `scripted/${script}`, SANDBOX_NETWORK: 'allowlist', ...internet, ...env });
  onTestFinished(async () => {
    await tendon.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  return tendon;
}

async function start(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Task' }).fill('reach it');
  await page.getByRole('textbox', { name: 'Task' }).press('Enter');
  await page.waitForURL(/\/conversations\/[0-9a-f]{32}$/);
  await page
    .locator('.state-line')
    .getByText(/^Running \(until/)
    .waitFor();
}

describe('SV451: a sandbox that wants to reach a host', () => {
  it('CL450: is shown as a question, which the keyboard answers, and the command goes on', async () => {
    const tendon = await asking(reach('asked.example'));
    const page = await openPage(browser, tendon.url);
    await start(page);
    await expectVisible(card(page, 'asked.example:80'));
    await expectVisible(card(page).getByText('a refusal is for good in this conversation'));
    await expectAccessible(page);
    const allow = card(page).getByRole('button', { name: 'Allow once', disabled: false });
    await allow.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: /^Ran / }).getByText('reached asked.example').first().waitFor();
    await card(page).waitFor({ state: 'detached' });
    expect(await focusedName(page)).toBe('Message');
    await page.getByText('It ran.').waitFor();
  });

  itInFull('asks one at a time, also after a reload and in the dark on a phone; the palette refuses, and always is for all', async () => {
    const tendon = await asking(reach('first.example', 'second.example'));
    const page = await openPage(browser, tendon.url);
    await start(page);
    await card(page).getByText('1 more after this').waitFor();
    await page.reload();
    await card(page).getByText('1 more after this').waitFor();
    const other = await openPage(browser, page.url(), { theme: 'dark', width: 390, height: 844 });
    await expectVisible(card(other));
    await expectAccessible(other);
    const first = (await card(page).getByRole('heading').textContent())!.includes('first') ? 'first' : 'second';
    const second = first === 'first' ? 'second' : 'first';
    await card(page).getByRole('button', { name: 'Allow once', disabled: false }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Command' }).fill('network:');
    const offered = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    expect(await offered.allTextContents()).toEqual(['Network: allow once', 'Network: always allow', 'Network: refuse']);
    await page.getByRole('combobox', { name: 'Command' }).fill('network: refuse');
    await page.keyboard.press('Enter');
    for (const one of [page, other]) await expectVisible(card(one, `${second}.example:80`));
    await card(other).getByRole('button', { name: 'Always', disabled: false }).click();
    for (const one of [page, other]) await card(one).waitFor({ state: 'detached' });
    const settings = (await (await fetch(`${tendon.url}/api/settings`)).json()) as { sandbox_network_allow: unknown };
    expect(settings.sandbox_network_allow).toEqual([`${second}.example`]);
  });

  itInFull('says which key may allow a host to every conversation', async () => {
    const tendon = await asking(reach('asked.example'), { SESSION_API_KEY: OWNER_KEY });
    const headers = { 'x-session-api-key': OWNER_KEY, 'content-type': 'application/json' };
    const made = await fetch(`${tendon.url}/api/keys`, { method: 'POST', headers, body: JSON.stringify({ name: 'a', scope: 'drive' }) });
    const { key } = (await made.json()) as { key: string };
    const page = await openPage(browser, tendon.url);
    await page.getByLabel('Key of this server').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await start(page);
    await card(page).getByRole('button', { name: 'Always', disabled: false }).click();
    await expectVisible(card(page).getByText('needs a key with the scope "admin"'));
    await card(page).getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('It ran.').waitFor();
  });
});
