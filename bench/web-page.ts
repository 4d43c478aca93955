/**
 * What a conversation costs the browser that shows it, for conversations of several lengths: processor time of the page's thread (of noise there
 * is little in it, unlike in seconds), bytes and memory.
 *   npm run build && node --conditions=tendon-source bench/web-page.ts [--root FOLDER] [events …]
 * `--root`: another build of the web app, in place of this one. Needs a Chromium: the package chromium, or its path in CHROMIUM_PATH.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createMask } from '@tendon/protocol/masking';
import { FinishAction, MessageAction, RunAction, RunObservation, AgentStateChangedObservation } from '@tendon/protocol';
import { createLogger, readConfig, startServer, type RunningServer } from '@tendon/server';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { at } from './at.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { root: { type: 'string' } } });
const LENGTHS = positionals.length > 0 ? positionals.map(Number) : [2_000, 20_000, 100_000];
const ROOT = values.root ?? join(import.meta.dirname, '../packages/web/dist');
const TURN = 100;
const LIVE_EVENTS = 150;
const REST_MS = 1_000;
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };

type Log = NonNullable<Awaited<ReturnType<RunningServer['engine']['conversations']['log']>>>;

/** An action of the agent, and what came of it. */
function step(index: number, actionId: number) {
  const command = `npm test -- part-${index}`;
  const metadata = { exit_code: index % 40 === 17 ? 1 : 0, working_dir: '/workspace' };
  return [
    {
      ...RunAction.create({ command, thought: index % 5 === 0 ? `Now **part ${index}** of \`the picker\`.` : '' }),
      source: 'agent' as const,
    },
    {
      ...RunObservation.create(`${'line of output\n'.repeat(12)}${index}`, { command, metadata: metadata as never }),
      source: 'agent' as const,
      cause: actionId,
    },
  ];
}

async function fill(log: Log, events: number): Promise<void> {
  while (log.nextId < events - 3) {
    const first = log.nextId;
    const steps = Array.from({ length: TURN / 2 - 1 }, (_, index) => step(first + index, first + 1 + 2 * index)).flat();
    const message = { ...MessageAction.create({ content: `Part ${first}` }), source: 'user' as const };
    await log.append([message, ...steps], { expectedId: first });
  }
  const finish = { ...FinishAction.create({ final_thought: 'All parts are done.', outputs: {} }), source: 'agent' as const };
  const state = {
    ...AgentStateChangedObservation.create('', { agent_state: 'finished', reason: '' } as never),
    source: 'environment' as const,
  };
  await log.append([finish, state], { expectedId: log.nextId });
}

/** CPU seconds of the page's thread so far. */
async function cpu(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

/** Once the page has done nothing for a while. */
async function restingCpu(session: CDPSession): Promise<number> {
  for (let before = await cpu(session); ;) {
    await sleep(REST_MS);
    const now = await cpu(session);
    if (now - before < 0.01) return before;
    before = now;
  }
}

async function opened(browser: Browser): Promise<{ readonly page: Page; readonly session: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Network.enable');
  return { page, session };
}

/** PSS of the newest renderer and its heap after a collection, MB. */
async function memory(browser: Browser, session: CDPSession): Promise<string> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1e6;
  const root = await browser.newBrowserCDPSession();
  const { processInfo } = await root.send('SystemInfo.getProcessInfo');
  const newest = Math.max(...processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id));
  const pss = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${newest}/smaps_rollup`, 'utf8'))![1]) / 1e3;
  return `${heap.toFixed(0)} / ${pss.toFixed(0)}`;
}

/** The agent is at work: steps come while it is, and a turn that is over is drawn otherwise. */
async function begin(log: Log): Promise<void> {
  const message = { ...MessageAction.create({ content: 'Go on with it.' }), source: 'user' as const };
  const state = {
    ...AgentStateChangedObservation.create('', { agent_state: 'running', reason: '' } as never),
    source: 'environment' as const,
  };
  await log.append([message, state], { expectedId: log.nextId });
}

/** Appends pairs of events at this rate, and returns ms of processor time for each. */
async function live(log: Log, session: CDPSession, perSecond: number): Promise<number> {
  await sleep(REST_MS);
  const before = await cpu(session);
  for (let index = 0; index < LIVE_EVENTS; index += 2) {
    await log.append(step(index, log.nextId), { expectedId: log.nextId });
    await sleep(2_000 / perSecond);
  }
  // Not until it does nothing: while the agent works a clock is drawn every second.
  await sleep(REST_MS);
  return ((await cpu(session)) - before) * (1_000 / LIVE_EVENTS);
}

/** Types while events come; how long each key waited for the page, ms: median / 95th percentile / worst. */
async function typing(log: Log, page: Page, perSecond: number): Promise<string> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.focus();
  await page.evaluate(`globalThis.waits = []; addEventListener('keydown', (e) => waits.push(performance.now() - e.timeStamp), true)`);
  const over = new AbortController();
  const flood = (async () => {
    for (let index = 0; !over.signal.aborted; index += 1) {
      await log.append(step(index, log.nextId), { expectedId: log.nextId });
      await sleep(2_000 / perSecond);
    }
  })();
  for (const letter of 'the quick brown fox jumps over the lazy dog') {
    await page.keyboard.press(letter === ' ' ? 'Space' : letter);
    await sleep(40);
  }
  over.abort();
  await flood;
  const waits = await page.evaluate<number[]>('waits');
  return `${at(waits, 0.5).toFixed(1)} / ${at(waits, 0.95).toFixed(1)} / ${Math.max(...waits).toFixed(1)}`;
}

async function measureLength(browser: Browser, server: RunningServer, events: number): Promise<Record<string, string>> {
  const { url } = server;
  const answer = await fetch(`${url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  const { conversation_id: id } = (await answer.json()) as { conversation_id: string };
  const log = (await server.engine.conversations.log(id))!;
  await fill(log, events);
  const { page, session } = await opened(browser);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  const began = performance.now();
  await page.goto(`${url}/conversations/${id}`);
  await page.getByText('All parts are done.').waitFor({ timeout: 300_000 });
  const shown = performance.now() - began;
  const toRest = await restingCpu(session);
  const row: Record<string, string> = {
    'CPU to rest, ms': (toRest * 1_000).toFixed(0),
    'end shown, ms': shown.toFixed(0),
    'files sent, KB': (bytes / 1_000).toFixed(0),
    elements: String(await page.evaluate<number>('document.querySelectorAll("*").length')),
    'heap / PSS, MB': await memory(browser, session),
  };
  await begin(log);
  Object.assign(row, {
    'CPU of a live event at 25/s, ms': (await live(log, session, 25)).toFixed(1),
    'at 200/s, ms': (await live(log, session, 200)).toFixed(1),
    // Panels that follow the agent are full by then.
    'at 25/s after 300 more, ms': (await live(log, session, 25)).toFixed(1),
    'key waits at 200/s, ms': await typing(log, page, 200),
  });
  await page.context().close();
  return row;
}

/** First contentful paint on a slow line, ms. */
async function firstPaint(browser: Browser, url: string): Promise<number> {
  const { page, session } = await opened(browser);
  await session.send('Network.emulateNetworkConditions', SLOW_LINE);
  await page.goto(url);
  await page.locator('[role=feed], [role=group]').first().waitFor({ timeout: 60_000 });
  const paint = await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
  await page.context().close();
  return paint;
}

const PLACES = [process.env.CHROMIUM_PATH, '/usr/lib/chromium/chromium-headless-shell', '/usr/lib/chromium/chromium', '/usr/bin/chromium'];
const executablePath = PLACES.find((place) => place && existsSync(place));
if (!executablePath) throw new Error('There is no Chromium: install the package chromium, or name one in CHROMIUM_PATH');
const home = mkdtempSync(join(tmpdir(), 'tendon-bench-'));
const config = readConfig({ PORT: '0', TENDON_HOME: home, RUNTIME: 'none', LLM_MODEL: 'demo', TENDON_WEB_ROOT: ROOT });
if (!config.ok) throw new Error(config.problems.join('; '));
const server = await startServer(config.config, { logger: createLogger({ level: 'silent', mask: createMask([]) }) });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
try {
  const rows: Record<string, Record<string, string>> = {};
  for (const length of LENGTHS) {
    rows[`${length} events`] = await measureLength(browser, server, length);
    console.table({ [`${length} events`]: rows[`${length} events`] });
  }
  const { conversation_id: id } = (await (
    await fetch(`${server.url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
  ).json()) as { conversation_id: string };
  console.log(`first paint at 1.6 Mbit/s and 150 ms: ${(await firstPaint(browser, `${server.url}/conversations/${id}`)).toFixed(0)} ms`);
} finally {
  await browser.close();
  await server.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}
