/** Long histories and kinds that no agent of ours makes, in Chromium, from a server of made-up events. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import { EditAction, EditObservation, toJson } from '@tendon/protocol';
import { EVERY_KIND } from '../conformance/every-kind.ts';
import {
  expectAccessible,
  expectNoHiddenTargets,
  expectVisible,
  focusedName,
  launchBrowser,
  openPage,
  pressSequence,
  type PageOptions,
} from './web-browser.ts';

interface Fixture {
  readonly url: string;
  close(): Promise<void>;
}
type StartFixture = (options?: { eventsOf?: (id: string) => readonly object[] }) => Promise<Fixture>;

const PATIENT = { timeout: 60_000 };

let browser: Browser;
let startFixture: StartFixture;
let longHistory: (turns: number) => readonly object[];
beforeAll(async () => {
  browser = await launchBrowser();
  // Plain JavaScript of the web package's own tooling.
  ({ startFixture } = (await import(new URL('../../packages/web/dev/fixture-server.mjs', import.meta.url).href)) as {
    startFixture: StartFixture;
  });
  ({ longHistory } = (await import(new URL('../../packages/web/dev/made-up.mjs', import.meta.url).href)) as {
    longHistory: typeof longHistory;
  });
});
afterAll(() => browser.close());

async function open(id: string, options?: Parameters<StartFixture>[0], page?: PageOptions): Promise<Page> {
  const fixture = await startFixture(options);
  onTestFinished(() => fixture.close());
  return openPage(browser, `${fixture.url}/conversations/${id}`, page);
}

const focused = (page: Page, name: RegExp) => expect.poll(() => focusedName(page), PATIENT).toMatch(name);
/** What the next screens above the end need is loaded. */
const settled = (feed: Locator) => expect.poll(() => feed.getAttribute('aria-busy'), PATIENT).toBe('false');
const rows = (page: Page) => page.locator('[role=feed] [data-row]').count();

/** Whether rows have the sign of what can be opened, at rest. */
const signs = (page: Page, rowsOf: string) =>
  page.evaluate<boolean[]>(`[...new Set([...document.querySelectorAll('.event-head ${rowsOf}')].map((row) =>
    getComputedStyle(row, '::after').borderRightColor !== 'rgba(0, 0, 0, 0)'))]`);

it('CL20 CL29 CL1336: every kind there is can be read, what can be opened looks so, and axe finds nothing in it, in the key map and in the palette', async () => {
  const events = [
    ...EVERY_KIND.map((event, id) => ({ ...toJson(event), id })),
    {
      id: 999,
      timestamp: '2026-01-01T00:00:00Z',
      source: 'agent',
      observation: 'agent_state_changed',
      content: '',
      extras: { agent_state: 'running' },
    },
  ];
  const page = await open('kinds', { eventsOf: () => events });
  await page.getByRole('feed').focus();
  await pressSequence(page, 'g', 'g');
  for (let step = 0; step < 120; step += 1) await page.keyboard.press('j');
  await expectAccessible(page);
  expect(await signs(page, 'button.event-row')).toEqual([true]);
  expect(await signs(page, 'div.event-row')).toEqual([false]);
  await page.keyboard.press('r');
  await page
    .getByRole('tabpanel')
    .getByText(/"timestamp"/)
    .waitFor();
  await page.getByRole('feed').focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).waitFor();
  await expectAccessible(page);
});

it('CL24 CL29: ten thousand events keep 60 rows in the document, and the keyboard reaches the first and the last', async () => {
  const page = await open('long');
  await page.getByText('All parts are done.').waitFor();
  expect(await rows(page)).toBeLessThanOrEqual(60);
  await page.getByRole('feed').focus();
  await pressSequence(page, 'g', 'g');
  await focused(page, /Part 1 of/);
  expect(await rows(page)).toBeLessThanOrEqual(60);
  await page.keyboard.press(']');
  await focused(page, /Part 2 of/);
  await page.keyboard.press('e');
  await focused(page, /exit 1/);
  await page.keyboard.press('G');
  await page.getByText('All parts are done.').waitFor();
  await focused(page, /^Done/);
});

itInFull('CL23: what comes while reading further up is counted, and moves nothing', async () => {
  const page = await open('long', { eventsOf: () => longHistory(15) });
  await page.getByText('All parts are done.').waitFor();
  const feed = page.getByRole('feed');
  await settled(feed);
  await feed.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
  await page.getByRole('button', { name: 'To the newest' }).waitFor();
  const seen = () =>
    feed.evaluate((element) =>
      [...element.querySelectorAll('article')].find((row) => row.getBoundingClientRect().top > 120)?.getAttribute('aria-label'),
    );
  const before = await seen();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('and now');
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Enter');
  await page.getByRole('button', { name: '2 new events' }).waitFor();
  expect(await seen()).toBe(before);
  await page.getByRole('button', { name: '2 new events' }).click();
  await page.getByRole('article', { name: /and now$/ }).waitFor();
});

it('CL23: at the end the stream follows what grows; further up a row that grows above moves nothing', async () => {
  const page = await open('long', { eventsOf: () => longHistory(15) });
  await page.getByText('All parts are done.').waitFor();
  const feed = page.getByRole('feed');
  const below = () => feed.evaluate((element) => Math.round(element.scrollHeight - element.scrollTop - element.clientHeight));
  await expect.poll(below, PATIENT).toBe(0);
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('one\ntwo\nthree\nfour\nfive\nsix');
  await expect.poll(below, PATIENT).toBe(0);
  await page.getByRole('article').getByRole('button', { name: 'Done' }).click();
  await expect.poll(below, PATIENT).toBe(0);

  await feed.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
  await page.getByRole('button', { name: 'To the newest' }).waitFor();
  await settled(feed);
  const rowAt = (which: 'above' | 'in view') =>
    feed.evaluateHandle((element, wanted) => {
      const { top } = element.getBoundingClientRect();
      const isFolded = (row: { querySelector(of: string): { ariaExpanded: string | null } | null }) =>
        row.querySelector('[aria-expanded]')?.ariaExpanded === 'false';
      const all = [...element.querySelectorAll('[data-row]')].filter(isFolded);
      const found = (row: (typeof all)[number]) => {
        const place = row.getBoundingClientRect();
        return wanted === 'above' ? place.bottom < top : place.top > top + 60;
      };
      return all.find(found)!;
    }, which);
  const [above, inView] = [await rowAt('above'), await rowAt('in view')];
  const place = () => inView.evaluate((row) => Math.round(row.getBoundingClientRect().top));
  const height = () => above.evaluate((row) => row.getBoundingClientRect().height);
  const [before, small] = [await place(), await height()];
  await above.evaluate((row) => (row.querySelector('[aria-expanded]') as unknown as { click(): void }).click());
  await expect.poll(height, PATIENT).toBeGreaterThan(small);
  await expect.poll(place, PATIENT).toBe(before);
});

itInFull('CL1002: the end of a long conversation is there first; what is above comes while it is read, and moves nothing', async () => {
  const page = await open('long');
  await page.getByText('All parts are done.').waitFor();
  const feed = page.getByRole('feed');
  await feed.focus();
  const up = async () => {
    await page.keyboard.press('[');
    return focusedName(page);
  };
  await expect.poll(up, PATIENT).toMatch(/Part 90 of/);
  expect(await rows(page)).toBeLessThanOrEqual(60);
  await feed.evaluate((element) => element.scrollTo({ top: 0 }));
  await feed.getByText(/[\d,]+ earlier events/).waitFor();
  const parts = await feed
    .getByRole('article', { name: /: Part/ })
    .evaluateAll((all) => all.map((row) => Number(/Part (\d+)/.exec(row.getAttribute('aria-label')!)![1])));
  expect(parts).toEqual(parts.toSorted((a, b) => a - b));
});

const READ = [
  ['from where the list ends at the other width', 6, 0.85],
  ['further up', 13, 0.75],
] as const;

it.each(someOf(READ, 1))(
  'CL23: rows that are out of view take the height that they have at another width, read %s',
  async (_where, times, share) => {
    const speech = (index: number) => ({
      id: index,
      timestamp: '2026-11-21T10:00:00.000Z',
      source: 'agent',
      action: 'message',
      args: { content: `Number ${index}. ${'Many words in one paragraph. '.repeat(60)}` },
    });
    const page = await open('kinds', { eventsOf: () => Array.from({ length: 60 }, (_, index) => speech(index)) }, { width: 390 });
    const feed = page.getByRole('feed');
    await feed.getByText('Number 59.').waitFor();
    const height = () => feed.evaluate((element) => element.scrollHeight);
    /** The first row in view; nothing as long as what was scrolled to is not rendered. */
    const first = () =>
      feed.evaluate((element) => {
        const { top } = element.getBoundingClientRect();
        const found = [...element.querySelectorAll('[data-row]')].find((row) => row.getBoundingClientRect().bottom > top);
        return found && found.getBoundingClientRect().top < top + 40 ? found.getAttribute('data-row') : undefined;
      });
    for (let time = 0; time < times; time += 1) {
      await feed.evaluate((element) => element.scrollBy({ top: -element.clientHeight * 2 }));
      await expect.poll(first, PATIENT).toBeDefined();
    }
    const tall = await height();
    const before = await first();
    await page.setViewportSize({ width: 1000, height: 900 });
    await expect.poll(height, PATIENT).toBeLessThan(tall * share);
    await expect.poll(first, PATIENT).toBe(before);
  },
);

itInFull('a partial answer is shown while it streams', async () => {
  const page = await open('running');
  await page.getByText(/The numbers are taken from a counter in memory/).waitFor();
  await expectVisible(page.locator('code', { hasText: 'invoice_number_seq' }));
});

const DARK_PHONE = ['dark', 390] as const;
const OTHERS = [['light', 1440] as const, ['dark', 1440] as const, ['light', 390] as const, ['light', 320] as const];

// The light one at full width is looked at by the journeys of web.test.ts.
it.each(someOf([DARK_PHONE, ...OTHERS], [DARK_PHONE]))(
  'CL29, CL946: home, settings and conversation pass axe in %s at %d px and do not scroll sideways',
  async (theme, width) => {
    const page = await open('ledger', {}, { theme, width, height: 844 });
    await page.getByRole('region', { name: 'Decision' }).waitFor();
    await expectAccessible(page);
    await expectNoHiddenTargets(page);
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(await overflow()).toBeLessThanOrEqual(0);
    if (width === 390) {
      // On a phone a panel takes the place of the conversation.
      await page.getByRole('tab', { name: /^Changes/ }).click();
      await page.getByRole('region', { name: 'Workbench' }).waitFor();
      await expectAccessible(page);
    }
    await page.goto(new URL('/', page.url()).href);
    await page.getByRole('link', { name: /semicolon/ }).waitFor();
    await expectAccessible(page);
    await expectNoHiddenTargets(page);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Approvals and rules' }).click();
    await page.getByRole('list', { name: 'Rules' }).waitFor();
    await expectAccessible(page);
    expect(await overflow()).toBeLessThanOrEqual(0);
  },
);

it('CL983: in a low window a question on Home keeps its height, and the page scrolls', async () => {
  const page = await open('ledger', {}, { width: 700, height: 450 });
  await page.goto(new URL('/', page.url()).href);
  const cards = page.locator('.question-card');
  await cards.first().waitFor();
  expect(await cards.evaluateAll((all) => all.map(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight))).toEqual(
    Array.from({ length: await cards.count() }, () => 0),
  );
});

it('CL30: events of a megabyte each neither hold the page nor fill the document', async () => {
  const huge = 'x'.repeat(1_000_000);
  const meta = (id: number) => ({ id, timestamp: '2026-01-01T00:00:00Z', source: 'agent' });
  const events = [
    { ...meta(0), source: 'user', action: 'message', args: { content: huge } },
    { ...meta(1), action: 'message', args: { content: huge } },
    { ...meta(2), action: 'run', args: { command: `echo ${huge}` } },
    { ...meta(3), observation: 'run', cause: 2, content: huge, extras: { command: 'echo', metadata: { exit_code: 1 } } },
    { ...meta(4), action: 'snapshot', args: { huge } },
    { ...meta(5), action: 'think', args: { thought: huge } },
    { ...meta(6), observation: 'error', content: huge, extras: {} },
    { ...meta(7), observation: 'agent_state_changed', content: '', extras: { agent_state: 'finished' } },
  ];
  const page = await open('kinds', { eventsOf: () => events });
  await expectVisible(page.locator('.state-line').getByText('Done', { exact: true }));
  expect(await page.evaluate<number>('document.body.innerHTML.length')).toBeLessThan(200_000);
});

it('forced colours keep the borders', async () => {
  const page = await open('ledger');
  await page.emulateMedia({ forcedColors: 'active' });
  const border = await page
    .getByRole('button', { name: 'Approve' })
    .evaluate((button) => button.ownerDocument.defaultView!.getComputedStyle(button).borderTopWidth);
  expect(border).toBe('1px');
});

it('CL615: the numbers of a diff that begins in the middle of a file are as narrow as of any other', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
  const path = '/workspace/lines.txt';
  const contents = { old_content: lines.join(''), new_content: lines.with(11, 'line twelve\n').join('') };
  const edits = [
    { source: 'agent', ...EditAction.create({ path, command: 'str_replace' }) },
    { source: 'agent', cause: 0, ...EditObservation.create('', { path, prev_exist: true, ...contents }) },
  ];
  const page = await open('kinds', { eventsOf: () => edits.map((event, id) => ({ id, timestamp: '2026-01-01T00:00:00Z', ...event })) });
  const cells = page.locator('tr', { hasText: 'line twelve' }).first().getByRole('cell');
  await cells.last().waitFor();
  const widths = await cells.evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().width));
  expect(Math.max(...widths.slice(0, -1))).toBeLessThan(60);
});

it('CL1004 CL1005: a page names its files at once; without a server they come from what the browser stored, and no answer of it does', async () => {
  const fixture = await startFixture();
  const page = await openPage(browser, `${fixture.url}/conversations/done`, { hasWorker: true });
  await page.getByRole('feed').waitFor();
  // Those with a whole address are of panels, which load later.
  const links = await page.locator('link[rel=modulepreload][href^="/"]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toContainEqual(expect.stringMatching(/^\/assets\/conversation-page-/));
  await page.evaluate('navigator.serviceWorker.ready');
  await fixture.close();
  await page.reload();
  await page.getByRole('link', { name: 'Tendon, home' }).waitFor();
  const stored = await page.evaluate<string[]>(
    'caches.keys().then(([name]) => caches.open(name)).then((cache) => cache.keys()).then((all) => all.map(({ url }) => new URL(url).pathname))',
  );
  expect(stored).toEqual(expect.arrayContaining(links));
  expect(stored.filter((path) => path.startsWith('/api'))).toEqual([]);
});

it('CL988: a notification shows all of an action and has its buttons; what is chosen there is carried out, and a refusal is shown', async () => {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  const whole = await launchBrowser({ isWhole: true });
  onTestFinished(() => whole.close());
  const page = await openPage(whole, fixture.url, { hasWorker: true });
  const context = page.context();
  await context.grantPermissions(['notifications'], { origin: fixture.url });
  await page.evaluate('navigator.serviceWorker.ready');
  await page.addInitScript(
    "Object.defineProperty(document, 'hidden', { get: () => true }); localStorage.setItem('tendon.notifications', 'on')",
  );
  await page.reload();
  const [worker] = context.serviceWorkers();
  const shown = () =>
    worker!.evaluate<Notice[]>(`registration.getNotifications().then((all) => all.map(({ title, body, data, actions }) => ({
      title, body, data, buttons: actions.map(({ action }) => action) })))`);
  await expect.poll(async () => (await shown()).map(({ title }) => title)).toContain('Accept semicolon-separated CSV files');
  const notice = (await shown()).find(({ data }) => data.decision)!;
  expect(notice).toMatchObject({
    body: 'Waiting for your decision\nPush the branch?\ngit push --set-upstream origin fix/csv-semicolon',
    buttons: ['approve', 'reject'],
  });
  const choose = (chosen: string) => worker!.evaluate(`handOver(${JSON.stringify(notice.data)}, '${chosen}')`);
  const answer = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/question'));
  await choose('approve');
  expect((await answer).postDataJSON()).toEqual({ event_id: notice.data.decision!.eventId, answer: 'approve' });
  await page.route('**/question', (route) => route.fulfill({ status: 409, json: { error: 'it was decided already' } }));
  await choose('reject');
  await expect.poll(async () => (await shown()).find(({ title }) => title === 'Not decided')?.body).toContain('it was decided already');
  // A window comes to the front for a real click alone.
  await expect(choose('open')).rejects.toThrow('Not allowed to focus');
  await page.getByRole('feed').waitFor();
});

interface Notice {
  readonly title: string;
  readonly body: string;
  readonly data: { readonly path: string; readonly decision?: { readonly eventId: number } };
  readonly buttons: readonly string[];
}
