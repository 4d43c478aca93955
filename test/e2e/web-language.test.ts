/** The web app in another language, in Chromium, from a server of made-up events. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { expectAccessible, expectNoHiddenTargets, launchBrowser, openPage } from './web-browser.ts';

type StartFixture = (options?: {
  eventsOf?: (id: string) => readonly object[];
}) => Promise<{ readonly url: string; close(): Promise<void> }>;

let browser: Browser;
let startFixture: StartFixture;
beforeAll(async () => {
  browser = await launchBrowser();
  ({ startFixture } = (await import(new URL('../../packages/web/dev/fixture-server.mjs', import.meta.url).href)) as {
    startFixture: StartFixture;
  });
});
afterAll(() => browser.close());

const german = JSON.parse(readFileSync(new URL('../../packages/web/src/lib/language/de.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;
/** English texts that German says otherwise. */
const ENGLISH = Object.keys(german).filter((key) => !key.includes('{{') && german[key] !== key);

/** What is shown or named in English although the catalogue has it; other people's words apart. */
async function englishOn(page: Page): Promise<readonly string[]> {
  const shown = await page.evaluate<readonly string[]>(`(() => {
    const texts = document.evaluate('//text()', document.body, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    const nodes = Array.from({ length: texts.snapshotLength }, (_, index) => texts.snapshotItem(index));
    const named = [...document.querySelectorAll('[aria-label], [title], [placeholder]')];
    return [
      ...nodes.filter((node) => !node.parentElement.closest('script, style, pre, code, .mono, .prose')).map((node) => node.data.trim()),
      ...named.flatMap((element) => ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? '')),
    ];
  })()`);
  return [...new Set(shown)].filter((text) => ENGLISH.includes(text));
}

/** What reaches beyond the window, without a strip of its own to be scrolled in. */
const BEYOND = `[...document.querySelectorAll('button, a, input, select, textarea, h1, h2, h3, p, label')]
  .filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    if (width === 0 || right <= innerWidth + 1 || !element.checkVisibility()) return false;
    for (let at = element.parentElement; at; at = at.parentElement) if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return false;
    return true;
  })
  .map((element) => element.textContent || element.getAttribute('aria-label'))`;

async function expectGerman(page: Page): Promise<void> {
  expect(await englishOn(page)).toEqual([]);
  expect(await page.evaluate(BEYOND)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
  await expectNoHiddenTargets(page);
  await expectAccessible(page);
}

it('CL1103 CL1100: German is chosen with the keyboard, stays, and is spoken on every main screen of a phone', async () => {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  const page = await openPage(browser, `${fixture.url}/settings/appearance`, { width: 375, height: 740 });
  await page.getByRole('radio', { name: 'Deutsch' }).press('Space');
  await page.getByRole('heading', { name: 'Sprache' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement?.closest("label")?.textContent')).toBe('Deutsch');
  expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  await page.reload();
  expect(await page.getByRole('radio', { name: 'Deutsch' }).isChecked()).toBe(true);
  await expectGerman(page);
  for (const name of ['Netzwerk', 'Modelle', 'MCP-Server', 'API-Schlüssel']) {
    await page.getByRole('navigation', { name: 'Einstellungen' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('button').last().waitFor();
    await expectGerman(page);
  }
  await page.getByRole('link', { name: 'Tendon, Startseite' }).click();
  await page.getByRole('heading', { name: 'Was ist zu tun?' }).waitFor();
  await page.getByRole('region', { name: /^Wartet auf eine Antwort/ }).waitFor();
  await expectGerman(page);
  await page.goto(`${fixture.url}/conversations/ledger`);
  await page.getByRole('feed', { name: 'Ereignisse' }).waitFor();
  await page.getByRole('textbox', { name: 'Nachricht' }).waitFor();
  await expectGerman(page);
  await page.getByRole('tab', { name: /^Änderungen/ }).click();
  await page.getByRole('button', { name: 'Datei zurücksetzen' }).first().waitFor();
  await expectGerman(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Befehl' }).fill('design dunk');
  await page.getByRole('option', { name: 'Design: dunkel' }).waitFor();
  await expectGerman(page);
});

it('CL762 CL937: on a phone a long answer to a question is shown whole, and there is space for another key and the words of a rule', async () => {
  const choice = 'Detect it from the first ten lines of each file, and name the separator of each file';
  const question = { id: 0, timestamp: '2026-01-01T00:00:00Z', source: 'agent', action: 'message' };
  const waits = { id: 1, timestamp: '2026-01-01T00:00:01Z', source: 'environment', observation: 'agent_state_changed', content: '' };
  const asked = [
    { ...question, args: { content: 'Which separator?', choices: ['Comma', choice], wait_for_response: true } },
    { ...waits, extras: { agent_state: 'awaiting_user_input', reason: '' } },
  ];
  const fixtures = await Promise.all([startFixture({ eventsOf: () => asked }), startFixture()]);
  onTestFinished(async () => void (await Promise.all(fixtures.map((fixture) => fixture.close()))));
  const [page, inGerman] = await Promise.all(
    fixtures.map(({ url }) => openPage(browser, `${url}/conversations/refused`, { width: 320, height: 740 })),
  );
  await page!.getByRole('button', { name: choice }).waitFor();
  expect(await page!.evaluate(BEYOND)).toEqual([]);
  await inGerman!.evaluate('localStorage.setItem("tendon.language", "de")');
  await inGerman!.reload();
  const field = await inGerman!.getByPlaceholder('Anderen Schlüssel einfügen').boundingBox();
  expect(field!.width).toBeGreaterThan(150);
  expect(await inGerman!.evaluate(BEYOND)).toEqual([]);
  await inGerman!.goto(`${fixtures[1].url}/conversations/ledger`);
  const always = await inGerman!.getByRole('button', { name: 'Hier immer: git push' }).boundingBox();
  expect(always!.width).toBeGreaterThan(150);
  await inGerman!.getByRole('button', { name: 'Immer …' }).click();
  await inGerman!.getByText(/^Hätte 3 Ihrer letzten 40/).waitFor();
  await expectGerman(inGerman!);
});
