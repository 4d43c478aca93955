/** What the service worker of the app makes of a push, in a real Chromium. What the server sends is tested beside it. */
import { join } from 'node:path';
import type { PushMessage } from '@tendon/protocol';
import type { Browser, CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchBrowser, openPage } from './web-browser.ts';

const { startFixture } = (await import(join(import.meta.dirname, '../../packages/web/dev/fixture-server.mjs'))) as {
  startFixture: () => Promise<{ readonly url: string; close(): Promise<void> }>;
};

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ isWhole: true })));
afterAll(() => browser.close());

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
}

async function appWithWorker() {
  const fixture = await startFixture();
  onTestFinished(() => fixture.close());
  const page = await openPage(browser, fixture.url, { hasWorker: true });
  const context = page.context();
  await context.grantPermissions(['notifications'], { origin: fixture.url });
  await page.evaluate('navigator.serviceWorker.ready');
  await page.evaluate("localStorage.setItem('tendon.notifications', 'on')");
  // From now on it is the worker's page.
  await page.reload();
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller?.state')).toBe('activated');
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  const session = await context.newCDPSession(page);
  const registrationId = await registrationOf(session, fixture.url);
  const push = async (message: PushMessage) => {
    await worker.evaluate('self.last = showing');
    await session.send('ServiceWorker.deliverPushMessage', { origin: fixture.url, registrationId, data: JSON.stringify(message) });
    await expect.poll(() => worker.evaluate('showing !== self.last')).toBe(true);
    await worker.evaluate('showing');
  };
  const shown = () =>
    worker.evaluate<Shown[]>('registration.getNotifications().then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))');
  return { page, worker, push, shown, url: fixture.url };
}

async function registrationOf(session: CDPSession, url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(url));
    if (own) resolve(own.registrationId);
  });
  await session.send('ServiceWorker.enable');
  return promise;
}

const message = (more: Partial<PushMessage> = {}): PushMessage => ({
  conversation_id: 'done',
  title: 'Fix the build',
  kind: 'finished',
  tag: 'done 7',
  ...more,
});

it('CL1352: a push is shown in the language of the app, replaces what its conversation had, and leads there', async () => {
  const { page, worker, push, shown } = await appWithWorker();
  await page.evaluate(
    `caches.open('notification-words').then((cache) => cache.put('/notification-words', new Response('{"finished":"Fertig","decision":"Wartet"}')))`,
  );
  await push(message({ kind: 'decision', tag: 'done 5' }));
  expect(await shown()).toEqual([{ title: 'Fix the build', body: 'Wartet', tag: 'done 5' }]);
  await push(message());
  expect(await shown()).toEqual([{ title: 'Fix the build', body: 'Fertig', tag: 'done 7' }]);
  await push(message());
  await push(message({ conversation_id: 'ledger', title: 'Another', tag: 'ledger 1' }));
  expect((await shown()).map(({ title }) => title).toSorted()).toEqual(['Another', 'Fix the build']);
  // A window comes to the front for a real click alone; the page goes there all the same.
  const data = await worker.evaluate<object>(`registration.getNotifications({ tag: 'done 7' }).then(([one]) => one.data)`);
  await expect(worker.evaluate(`handOver(${JSON.stringify(data)}, 'open')`)).rejects.toThrow('Not allowed to focus');
  await page.waitForURL('**/conversations/done');
  await page.getByRole('feed').waitFor();
});

it('CL1352: what a page shows with its buttons stays, and nothing stays of what a person looks at', async () => {
  const { page, worker, push, shown, url } = await appWithWorker();
  await worker.evaluate(
    `registration.showNotification('Fix the build', { body: 'npm test', tag: 'done 7', data: { path: '/conversations/done' }, actions: [{ action: 'approve', title: 'Approve' }] })`,
  );
  await push(message({ kind: 'decision' }));
  await push(message({ conversation_id: 'ledger', tag: 'ledger 1' }));
  expect((await shown()).map(({ body, tag }) => [tag, body]).toSorted()).toEqual([
    ['done 7', 'npm test'],
    ['ledger 1', expect.any(String)],
  ]);
  await page.goto(`${url}/conversations/done`);
  await page.bringToFront();
  await expect.poll(() => page.evaluate('document.hasFocus()')).toBe(true);
  await push(message({ kind: 'answered', tag: 'done 9' }));
  expect((await shown()).map(({ tag }) => tag)).toEqual(['ledger 1']);
});
