import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { itInFull, someOf } from '@tendon/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { allProcesses } from '../processes/process-tree.ts';
import { startBrowserSite, type BrowserSite } from './testing/browser-site.ts';
import { chromiumOfRun, startBrowserUser, type BrowserUser } from './testing/browser-user.ts';

const hanging = (script: string): string => `<title>Hangs</title><button onclick="${script}">Hang</button>`;

let site: BrowserSite;
let user: BrowserUser;
beforeEach(async () => {
  site = await startBrowserSite({
    '/': '<title>Home</title><h1>Home</h1>',
    '/never': () => {},
    '/hangs/waiting': hanging("for (;;) (request = new XMLHttpRequest()).open('GET', '/never', false), request.send()"),
    '/hangs/working': hanging('for (;;);'),
    '/cookie': (response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'who=ann; Max-Age=1000' }).end('<title>Given</title>'),
    '/who': `<script>document.title = document.cookie || 'nobody'</script>`,
  });
});
afterEach(() => site.close());

/** Every process of this executor's browser: its profile's folder is in their command lines or in that of their parents. */
function browserProcesses(): readonly number[] {
  const mark = user.executor.workspace;
  return allProcesses().filter(
    (pid) => pid !== user.executor.process.pid && commandOf(pid).includes(mark) && /chrom|browser/i.test(commandOf(pid)),
  );
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const chromium = (): number | undefined => browserProcesses().find((pid) => /^[^\0]*chrom[^\0]*\0(?!.*--type=)/s.test(commandOf(pid)));
const host = (): number | undefined => browserProcesses().find((pid) => /^[^\0]*node\0/.test(commandOf(pid)));

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within 90 s: ${String(condition)}`);
    await delay(20);
  }
}

/** A browser starts in seconds: one is used on by all that leave it, or the next one, at work. */
describe('a browser that goes on', () => {
  beforeAll(async () => {
    user = await startBrowserUser({}, chromiumOfRun());
  });
  afterAll(() => user.executor.kill());

  it.each(
    someOf(
      [
        ['Chromium', chromium, 'Chromium was killed or crashed'],
        ['its host', host, 'SIGKILL'],
      ] as const,
      1,
    ),
  )('RT154: %s is killed in mid action: the answer says so, and the next action works', async (_what, find, words) => {
    await user.browse(site.origin);
    const cut = user.do(`goto("${site.origin}/never")`);
    await until(() => site.asked.includes('/never'));
    process.kill(find()!, 'SIGKILL');
    const { kind, content } = await cut;
    expect([kind, content]).toEqual(['error', expect.stringContaining(`The browser ended while the action was carried out (${words}`)]);
    expect(await user.browse(site.origin)).toMatchObject({ kind: 'browse', content: '# Home', extras: { error: false } });
  });

  itInFull('RT154: the next action reports a browser that was killed between actions', async () => {
    await user.browse(site.origin);
    process.kill(chromium()!, 'SIGKILL');
    await until(() => host() === undefined);
    const { content } = await user.browse(site.origin);
    expect(content).toMatch(/^The browser had ended since the last action \(Chromium was killed or crashed\)[^]*# Home$/);
  });

  // Half a minute goes by until the tab is given up: daily only without work for a processor, which others need.
  it.each(someOf(['waiting', 'working'], 1))('RT152: a page whose script never ends, %s, costs its tab', async (how) => {
    const hung = await user.do(`goto("${site.origin}/hangs/${how}")`, 'mouse_click(30, 20)', 'noop(10)');
    expect(hung.content).toContain('does not answer: a script on it may run without end. Its tab was closed');
    expect(await user.browse(site.origin)).toMatchObject({ content: '# Home', extras: { open_pages_urls: [`${site.origin}/`] } });
  });

  it('RT153: a cancelled action ends, and the browser is there for the next', async () => {
    await user.browse(site.origin);
    const before = chromium();
    const { executor } = user;
    const cut = executor.lines({ key: 'cut', action: { action: 'browse', args: { url: `${site.origin}/never` } } });
    await until(() => site.asked.includes('/never'));
    await executor.call('POST', '/effects/cut/cancel');
    expect((await cut).at(-1)).toMatchObject({
      type: 'outcome',
      observation: { extras: { error: true, last_browser_action_error: 'it was cancelled' } },
    });
    expect(await user.browse(site.origin)).toMatchObject({ content: '# Home' });
    expect(chromium()).toBe(before);
  });
});

describe('a browser that ends', () => {
  afterEach(() => user.executor.kill());

  it('RT155: after some time without use it ends, and comes back at the same page with the cookies', async () => {
    user = await startBrowserUser({ limits: { browserIdleSeconds: 1 } }, chromiumOfRun());
    await user.browse(`${site.origin}/cookie`);
    await user.browse(`${site.origin}/who`);
    await until(() => browserProcesses().length === 0);
    const { content, extras } = await user.do('noop(1)');
    expect(content).toContain('The browser was closed after 1 seconds without use');
    expect(extras).toMatchObject({ url: `${site.origin}/who`, title: 'who=ann' });
  });

  it('RT156: with the executor everything ends, also when it is killed', async () => {
    user = await startBrowserUser({}, chromiumOfRun());
    await user.browse(site.origin);
    expect(chromium()).toBeDefined();
    user.executor.process.kill('SIGKILL');
    await until(() => browserProcesses().length === 0);
    await user.executor.kill();
    user = await startBrowserUser({}, chromiumOfRun());
    await user.browse(site.origin);
    await user.executor.call('POST', '/shutdown');
    await until(() => browserProcesses().length === 0);
    await until(() => !existsSync(join(user.executor.workspace, '.cache/tendon/browser/one')));
  });

  itInFull('RT157, RT143: without a Chromium an error says what to do; what cannot be parsed starts none', async () => {
    const broken = join(process.env.TMPDIR ?? '/tmp', `tendon-broken-${process.pid}`);
    writeFileSync(broken, '#!/bin/sh\necho "error while loading shared libraries: libnss3.so" >&2\nexit 127\n');
    chmodSync(broken, 0o755);
    user = await startBrowserUser({}, { CHROMIUM_PATH: '/no/such/chromium' });
    const refused = await user.do('click(');
    expect(refused).toMatchObject({
      kind: 'browse',
      content: expect.stringContaining('Nothing was carried out: line 1, column 7'),
      extras: { error: true },
    });
    expect(existsSync(join(user.executor.workspace, '.cache/tendon/browser/one/data'))).toBe(false);
    expect(await user.browse(site.origin)).toMatchObject({
      kind: 'error',
      content: expect.stringContaining('No Chromium was found in the sandbox. Install one'),
    });
    await user.executor.kill();
    user = await startBrowserUser({}, { CHROMIUM_PATH: broken });
    const { kind, content } = await user.browse(site.origin);
    expect([kind, content]).toEqual(['error', expect.stringMatching(/did not start: .*libnss3\.so/)]);
    expect(readdirSync(user.executor.workspace)).not.toContain('.downloads');
  });
});
