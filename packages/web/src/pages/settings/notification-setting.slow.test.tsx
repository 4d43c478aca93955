// @vitest-environment happy-dom
import { setImmediate } from 'node:timers/promises';
import { act, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();

/** A browser that has push: what it was subscribed with, and whether it still is. */
function browserWithPush() {
  const subscribed: { key: string; isActive: boolean }[] = [];
  const subscription = {
    endpoint: 'https://push.example/this',
    options: { applicationServerKey: null },
    toJSON: () => ({ endpoint: 'https://push.example/this', keys: { p256dh: 'p', auth: 'a' } }),
    unsubscribe: async () => ((subscribed.at(-1)!.isActive = false), true),
  };
  const pushManager = {
    getSubscription: async () => (subscribed.at(-1)?.isActive ? subscription : null),
    subscribe: async ({ userVisibleOnly, applicationServerKey }: PushSubscriptionOptionsInit) => {
      expect(userVisibleOnly).toBe(true);
      subscribed.push({ key: Buffer.from(applicationServerKey as Uint8Array).toString('base64url'), isActive: true });
      return subscription;
    },
  };
  const listening = { addEventListener: () => undefined, removeEventListener: () => undefined };
  const cached: string[] = [];
  vi.stubGlobal('Notification', { permission: 'granted', requestPermission: async () => 'granted' });
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('caches', { open: async () => ({ put: async (_path: string, words: Response) => void cached.push(await words.text()) }) });
  Object.defineProperty(navigator, 'serviceWorker', {
    value: { ...listening, getRegistration: async () => ({ pushManager }) },
    configurable: true,
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    Reflect.deleteProperty(navigator, 'serviceWorker');
  });
  return { subscribed, cached };
}

const devices = async () =>
  ((await (await fetch(`${location.origin}/api/push/devices`)).json()) as { devices: { id: string }[] }).devices.map(({ id }) => id);

it('CL1350: who turns notifications on is sent them while the app is closed, too, until the device is removed', async () => {
  const { subscribed, cached } = browserWithPush();
  await open('/settings/notifications');
  const list = within(await screen.findByRole('region', { name: 'Your devices' }));
  await list.findByText('Chrome (Android)');
  await userEvent.click(await screen.findByRole('button', { name: 'Turn notifications on' }));
  await screen.findByText('Notifications are on. They come also while the app is closed.');
  expect(subscribed).toEqual([{ key: `B${'A'.repeat(86)}`, isActive: true }]);
  expect(JSON.parse(cached.at(-1)!)).toMatchObject({ decision: 'Waiting for your decision', finished: 'Done' });
  await list.findByText(/this device$/);
  await userEvent.click(list.getByRole('button', { name: 'Remove Chrome (Android)' }));
  await waitFor(async () => expect(await devices()).toEqual(['this']));
  await userEvent.click(screen.getByRole('button', { name: 'Turn notifications off' }));
  await list.findByText('No device is sent any.');
  expect([await devices(), subscribed.at(-1)!.isActive]).toEqual([[], false]);
});

it('CL1351: a device that was removed on another one stays removed; one whose address has changed is added with the new one', async () => {
  const { subscribed } = browserWithPush();
  await open('/settings/notifications');
  await userEvent.click(await screen.findByRole('button', { name: 'Turn notifications on' }));
  await waitFor(async () => expect(await devices()).toEqual(['this']));
  const { pushDevice } = await import('../../lib/push-device.ts');
  const words = { decision: 'Waiting' };
  localStorage.setItem('tendon.push', 'this https://push.example/before');
  await pushDevice.renew(words);
  expect([await devices(), localStorage.getItem('tendon.push')]).toEqual([['this'], 'this https://push.example/this']);
  await fetch(`${location.origin}/api/push/devices/this`, { method: 'DELETE' });
  localStorage.setItem('tendon.push', 'gone https://push.example/before');
  await pushDevice.renew(words);
  expect(await devices()).toEqual(['this']);
  await fetch(`${location.origin}/api/push/devices/this`, { method: 'DELETE' });
  await pushDevice.renew(words);
  expect([await devices(), subscribed.at(-1)!.isActive, pushDevice.id]).toEqual([[], false, undefined]);
});

it('CL1350: where the browser has no push, or refuses it, notifications are shown by the page, with the reason', async () => {
  browserWithPush();
  const registration = (await navigator.serviceWorker.getRegistration())!;
  vi.spyOn(registration.pushManager, 'subscribe').mockRejectedValueOnce(new Error('no push service'));
  await open('/settings/notifications');
  await userEvent.click(await screen.findByRole('button', { name: 'Turn notifications on' }));
  await screen.findByText('Notifications are on. They come while a page of this server is open.');
  await screen.findByText('no push service');
  expect(await devices()).not.toContain('this');
  await userEvent.click(screen.getByRole('button', { name: 'Also while the app is closed' }));
  await screen.findByText('Notifications are on. They come also while the app is closed.');
  expect(await devices()).toContain('this');
});

it('CL988: what ends or answers while the page is hidden is shown, once, and not what had ended before', async () => {
  const shown: string[] = [];
  class Shown {
    static readonly permission = 'granted';
    static readonly requestPermission = async () => 'granted';
    readonly addEventListener = () => undefined;
    constructor(title: string, { body }: { readonly body: string }) {
      shown.push(`${title}: ${body}`);
    }
  }
  vi.stubGlobal('Notification', Shown);
  vi.stubGlobal('isSecureContext', true);
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  const states = { one: 'running', two: 'running', three: 'finished' };
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const { pathname } = new URL(String(args[0]));
    if (pathname !== '/api/conversations') return fetch(...args);
    const at = new Date().toISOString();
    const shared = { status: 'RUNNING', reason: '', created_at: at, last_updated_at: at, network_questions: [] };
    return Response.json({
      results: Object.entries(states).map(([id, agent_state]) => ({ ...shared, conversation_id: id, title: id, agent_state })),
    });
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    hidden.mockRestore();
    spy.mockRestore();
  });
  await open('/settings/notifications');
  await userEvent.click(await screen.findByRole('button', { name: /^Turn notifications on/ }));
  const looked = () => spy.mock.calls.filter(([url]) => String(url).includes('/api/conversations?')).length;
  /** The page asks again, and has drawn the answer. */
  const look = async () => {
    const before = looked();
    await act(() => window.dispatchEvent(new Event('visibilitychange')));
    await waitFor(() => expect(looked()).toBeGreaterThan(before));
    await Promise.all(spy.mock.results.map(({ value }) => value as Promise<Response>));
    await act(() => setImmediate());
  };
  await waitFor(() => expect(looked()).toBeGreaterThan(0));
  await look();
  Object.assign(states, { one: 'finished', two: 'error' });
  await look();
  await waitFor(() => expect(shown.toSorted()).toEqual(['one: Done', expect.stringMatching(/^two: Stopped/)]));
  await look();
  states.one = 'running';
  await look();
  // It asks once more when it has what was answered before.
  await look();
  states.one = 'rejected';
  await look();
  await waitFor(() => expect(shown).toHaveLength(3));
  expect(shown[2]).toBe('one: Declined');
});
