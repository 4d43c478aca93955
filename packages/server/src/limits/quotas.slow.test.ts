import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { LimitList, OwnLimits, ScopedLimits } from '@tendon/protocol';
import { createMemoryStorage } from '@tendon/core/storage';
import { z } from 'zod';
import { systemClock } from '../platform/system-clock.ts';
import { socketIoClient, testServer, type TestServer } from '../server.test-support.ts';
import { openQuotas } from './open-quotas.ts';
import { SandboxParties } from './sandbox-parties.ts';

const KEY = 'the-key-of-a-session';
const owner = { 'x-session-api-key': KEY };
const SLOW = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'until [ -e go ]; do echo waits; sleep 0.5; done' } }] };

const Made = z.object({ conversation_id: z.string() });

async function keyOf(server: TestServer, name: string) {
  const made = (await (await server.post('/api/keys', { name, scope: 'drive' }, owner)).json()) as { key: string; id: string };
  return { id: made.id, headers: { 'x-session-api-key': made.key } };
}

async function begin(server: TestServer, headers: Readonly<Record<string, string>>) {
  const answer = await server.post('/api/conversations', { initial_user_msg: 'go' }, headers);
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, body, retryAfter: answer.headers.get('retry-after') };
}

it('SV1374, SV1376: what is over a limit is refused with 429, which says what is used and when it is free, and a person is refused over a socket', async () => {
  const server = await testServer({ sessionApiKey: KEY, script: [SLOW, { text: 'Done.' }], env: { TENDON_USER_RUNNING: '1' } });
  const [ada, bob] = [await keyOf(server, 'Ada'), await keyOf(server, 'Bob')];
  const first = await begin(server, ada.headers);
  expect(first.status).toBe(200);
  const { conversation_id: id } = Made.parse(first.body);
  await expect.poll(() => server.engine.quotas.own()[`key:${ada.id}`]?.running).toBe(1);
  const second = await begin(server, ada.headers);
  expect(second).toMatchObject({
    status: 429,
    body: { message: 'You may have 1 conversations at work at once, and 1 are. One that rests makes room.' },
  });
  expect(Number(second.retryAfter)).toBeGreaterThan(0);
  // What is at work is spoken to all the same; another key has its own.
  expect((await server.post(`/api/conversations/${id}/message`, { message: 'and?' }, ada.headers)).status).toBe(200);
  expect((await begin(server, bob.headers)).status).toBe(200);
  const made = Made.parse(await (await server.post('/api/conversations', {}, ada.headers)).json());
  const client = await socketIoClient(server, { conversation_id: made.conversation_id }, { extraHeaders: ada.headers });
  client.send({ action: 'message', args: { content: 'go' } });
  await client.frames.until((frame) => JSON.stringify(frame).includes('at work at once'), 'the refusal');

  await server.post(`/api/conversations/${id}/stop`, {}, ada.headers);
  await expect.poll(() => server.engine.quotas.own()[`key:${ada.id}`]).toBeUndefined();
  expect((await begin(server, ada.headers)).status).toBe(200);
});

it('SV1375: when the spending of a day is over, an agent stops before its next request, and new work is refused until the next day', async () => {
  const think = (n: number) => ({ toolCalls: [{ name: 'think', arguments: { thought: `hm ${n}` } }], costUsd: 0.1 });
  const script = Array.from({ length: 10 }, (_, n) => think(n));
  const server = await testServer({ sessionApiKey: KEY, script, env: { TENDON_USER_USD_PER_DAY: '0.25' } });
  const [ada, bob] = [await keyOf(server, 'Ada'), await keyOf(server, 'Bob')];
  const { conversation_id: id } = Made.parse((await begin(server, ada.headers)).body);
  const info = async () =>
    (await (await server.get(`/api/conversations/${id}`, ada.headers)).json()) as { agent_state: string; reason: string };
  await expect.poll(async () => (await info()).agent_state, { timeout: 30_000 }).toBe('error');
  const { limits } = (await (await server.get('/api/limits/mine', ada.headers)).json()) as z.output<typeof LimitList>;
  const own = limits.find(({ scope }) => scope === `key:${ada.id}`)!;
  expect(own.used.usd_today).toBeCloseTo(0.3);
  const refused = await begin(server, ada.headers);
  expect(refused).toMatchObject({
    status: 429,
    body: { message: expect.stringMatching(/^You may spend \$0\.25 in a day, and have spent \$0\.30\. .*T00:00:00\.000Z\.$/) as string },
  });
  expect(Number(refused.retryAfter)).toBeLessThanOrEqual(86_400);
  expect((await begin(server, bob.headers)).status).toBe(200);
  // An admin gives more.
  const more = await fetch(`${server.url}/api/limits/key:${ada.id}`, {
    method: 'PUT',
    headers: { ...owner, 'content-type': 'application/json' },
    body: JSON.stringify({ usd_per_day: 5 }),
  });
  expect(((await more.json()) as ScopedLimits).limits).toMatchObject({ usd_per_day: 5 });
  expect((await begin(server, ada.headers)).status).toBe(200);
});

it('SV1378: of what all together use a caller learns that a limit is reached, and whose keys administer the server how much', async () => {
  const think = { toolCalls: [{ name: 'think', arguments: { thought: 'hm' } }], costUsd: 0.1 };
  const server = await testServer({ sessionApiKey: KEY, script: [think, think, think], env: { TENDON_USD_PER_DAY: '0.15' } });
  const [ada, bob] = [await keyOf(server, 'Ada'), await keyOf(server, 'Bob')];
  const seen = async (headers: Readonly<Record<string, string>>) =>
    (await (await server.get('/api/limits/mine', headers)).json()) as z.output<typeof OwnLimits>;
  expect((await seen(ada.headers)).server).toEqual({ limited: ['usd_per_day'], reached: [] });
  await begin(server, bob.headers);
  await expect.poll(async () => (await seen(owner)).limits.find(({ scope }) => scope === 'server')?.used.usd_today).toBeCloseTo(0.2);
  const { limits, server: ofServer } = await seen(ada.headers);
  expect(ofServer).toEqual({ limited: ['usd_per_day'], reached: ['usd_per_day'] });
  expect(limits.map(({ scope, used }) => [scope, used.usd_today])).toEqual([[`key:${ada.id}`, 0]]);
  const refused = await begin(server, ada.headers);
  expect(refused.body).toMatchObject({
    message: expect.stringMatching(/^The server has spent what it may in a day\. It is free/) as string,
  });
});

itInFull(
  'SV1371, SV1373: a server that has enough at work lets others wait, shows them so, and refuses more of one who has as many waiting as may',
  async () => {
    const server = await testServer({
      sessionApiKey: KEY,
      script: [SLOW, { text: 'Done.' }],
      env: { TENDON_MAX_RUNNING: '1', TENDON_MAX_WAITING: '1' },
    });
    const [ada, bob] = [await keyOf(server, 'Ada'), await keyOf(server, 'Bob')];
    const first = Made.parse((await begin(server, ada.headers)).body).conversation_id;
    await expect.poll(() => server.engine.quotas.running.totals().taken).toBe(1);
    const second = Made.parse(await (await server.post('/api/conversations', {}, ada.headers)).json()).conversation_id;
    const client = await socketIoClient(server, { conversation_id: second }, { extraHeaders: ada.headers });
    client.send({ action: 'message', args: { content: 'go' } });
    await client.frames.until(
      (frame) => JSON.stringify(frame).includes('Waiting for the server: it works on 1 other at once, this one is next.'),
      'its place',
    );
    // So is a client that comes while it waits.
    const late = await socketIoClient(server, { conversation_id: second }, { extraHeaders: ada.headers });
    await late.frames.until((frame) => JSON.stringify(frame).includes('Waiting for the server: it works on 1 other'), 'its place, later');
    expect(await begin(server, ada.headers)).toMatchObject({
      status: 429,
      retryAfter: '15',
      body: { message: expect.stringContaining('wait for their turn') as string },
    });
    expect((await begin(server, bob.headers)).status).toBe(200);
    await expect.poll(() => server.engine.quotas.running.totals().waiting).toBe(2);
    const text = await (await server.get('/metrics', owner)).text();
    expect(text).toMatch(/^tendon_conversations_at_work 1$[^]*^tendon_conversations_waiting 2$/m);
    expect(text).toMatch(/^tendon_limit_refusals_total\{limit="waiting"\} 1$/m);
    await server.post(`/api/conversations/${first}/stop`, {}, ada.headers);
    await client.frames.until((frame) => frame.action === 'run', 'the second one at work');
    await server.post(`/api/conversations/${second}/stop`, {}, ada.headers);
    await expect.poll(() => server.engine.quotas.running.totals()).toEqual({ taken: 1, waiting: 0 });
  },
);

it('SV1377: servers over one storage count together, and limits that are set at one hold at the others', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  const config = { maxRunning: undefined, maxWaiting: 10, server: {}, each: { running: 2, usd_per_day: 1 } };
  const open = async () =>
    openQuotas({
      records,
      clock: { ...systemClock, sleep: (ms, options) => systemClock.sleep(ms / 50, options) },
      config,
      isShared: true,
      sandboxes: new SandboxParties(() => false),
    });
  const [one, other] = [await open(), await open()];
  for (const each of [one, other]) each.start();
  const party = { name: 'user:ada', organisation: 'o' };
  const work = (id: string) => ({ id, rootId: id, party });
  expect(await one.quotas.begin(work('a'))).toBeUndefined();
  expect(await other.quotas.begin(work('b'))).toBeUndefined();
  await expect.poll(async () => (await one.quotas.used('user:ada')).running).toBe(2);
  expect(await one.quotas.begin(work('c'))).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  await other.close();
  await expect.poll(async () => (await one.quotas.used('user:ada')).running).toBe(1);
  expect(await one.quotas.begin(work('c'))).toBeUndefined();
  const third = await open();
  await one.quotas.store.set('organisation:o', { usd_per_month: 3 });
  expect((await open()).quotas.store.of('organisation:o')).toEqual({ usd_per_month: 3 });
  await third.close();
  await one.close();
});

it.each([
  ['alone', false],
  ['among others', true],
])('SV1374: of what begins at once no more begins than may, on a server %s', async (_what, isShared) => {
  const { records } = createMemoryStorage({ clock: systemClock });
  const config = { maxRunning: undefined, maxWaiting: 10, server: {}, each: { running: 2 } };
  const { quotas, start, close } = await openQuotas({
    records,
    clock: systemClock,
    config,
    isShared,
    sandboxes: new SandboxParties(() => false),
  });
  start();
  const begun = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((id) => quotas.begin({ id, rootId: id, party: { name: 'user:ada', organisation: 'o' } })),
  );
  expect(begun.map((refusal) => refusal?.code)).toEqual([undefined, undefined, ...Array.from({ length: 3 }, () => 'QUOTA_EXCEEDED')]);
  await close();
});

it('SV1374: a sandbox that is about to be counts', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  const config = { maxRunning: undefined, maxWaiting: 10, server: {}, each: { sandboxes: 2 } };
  const has = new Set<string>();
  const { quotas, close } = await openQuotas({
    records,
    clock: systemClock,
    config,
    isShared: false,
    sandboxes: new SandboxParties((id) => has.has(id)),
  });
  const work = (id: string) => ({ id, rootId: id, party: { name: 'user:ada' } });
  for (const id of ['a', 'b', 'c']) quotas.opened(work(id));
  expect([await quotas.begin(work('a')), await quotas.begin(work('b'))]).toEqual([undefined, undefined]);
  expect(await quotas.begin(work('c'))).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  has.add('a');
  expect(await quotas.begin(work('c'))).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  // One that has rested and got none.
  quotas.running.rested('b');
  expect(await quotas.begin(work('c'))).toBeUndefined();
  await close();
});
