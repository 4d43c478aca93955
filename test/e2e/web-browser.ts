/** Chromium for the tests of the web app, and what a page must never do. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** The shell takes half the processor time; Debian's scripts before the programs turn on what needs a graphics card. */
const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

interface LaunchOptions {
  /** More than the shell: one that shows notifications. */
  readonly isWhole?: boolean;
}

/** Builds the app when its sources changed, then starts the browser of this machine. */
export async function launchBrowser({ isWhole = false }: LaunchOptions = {}): Promise<Browser> {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale', 'web'], { cwd: root, stdio: 'inherit' });
  const executablePath = PLACES.find((place) => place && existsSync(place) && !(isWhole && place.endsWith('-shell')));
  if (!executablePath) throw new Error('There is no Chromium: install the package chromium, or name one in CHROMIUM_PATH');
  const args = ['--no-sandbox', '--disable-gpu', '--in-process-gpu', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath, args: isWhole ? ['--headless=new', ...args] : args });
}

export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Lets the page install its service worker. */
  readonly hasWorker?: boolean;
  /** Addresses of other servers that it may ask. */
  readonly servers?: readonly string[];
}

/** A page at `url`; when the test is over it is closed, and must not have thrown nor asked any other host than the server and its previews for anything. */
export async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1440, height = 900, hasWorker = false, servers = [] }: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    serviceWorkers: hasWorker ? 'allow' : 'block',
  });
  const page = await context.newPage();
  const thrown: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => thrown.push(String(error)));
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    const isPreview = host.endsWith(`.localhost:${new URL(url).port}`);
    const isOther = servers.includes(`${protocol}//${host}`);
    if (protocol.startsWith('http') && host !== new URL(url).host && !isPreview && !isOther) foreign.push(request.url());
  });
  onTestFinished(async () => {
    await context.close();
    expect(thrown).toEqual([]);
    expect(foreign).toEqual([]);
  });
  await page.goto(url);
  return page;
}

/** The accessible name that the focused element was given. */
export async function focusedName(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""');
}

/** Waits until it is on screen; it may be gone right after. */
export async function expectVisible(locator: Locator): Promise<void> {
  await locator.first().waitFor();
}

/** A sequence has to come within 800 ms: the second key is sent before the page has dealt with the first. */
export async function pressSequence(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
}

/** The program that the package puts into pages. */
const AXE = readFileSync(createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'), 'utf8');
const LOOK = `axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations.map(({ id }) => id))`;

/** CL29. Where a violation is, is found out when there is one: the names of all elements take as long as all rules. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const frame of page.frames()) if (await frame.evaluate('!window.axe')) await frame.evaluate(AXE);
  const found = await page.evaluate<string[]>(LOOK);
  if (found.length === 0) return;
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .setLegacyMode(true)
    .analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`)).toEqual([]);
  expect(found).toEqual([]);
}

/** CL946. What cannot be seen must not be hit: an act of it would come as a surprise. */
export async function expectNoHiddenTargets(page: Page): Promise<void> {
  const hit = await page.evaluate<string[]>(`[...document.querySelectorAll('button, a[href], [role=button], [role=option], summary, input')]
    .filter((target) => {
      const isTaken = getComputedStyle(target).pointerEvents !== 'none';
      for (let at = target; at; at = at.parentElement) if (getComputedStyle(at).opacity === '0') return isTaken && target.checkVisibility();
      return false;
    })
    .map((target) => target.getAttribute('aria-label') ?? target.textContent)`);
  expect(hit).toEqual([]);
}
