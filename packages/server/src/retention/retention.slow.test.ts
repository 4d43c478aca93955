import { existsSync } from 'node:fs';
import { MessageAction, type AuditPage, type OldConversations } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T09:00:00Z');
const RETENTION = { TENDON_RETENTION_DAYS: '30', TENDON_AUDIT: 'on' };
const SLOW = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'until [ -e go ]; do echo waits; sleep 0.2; done' } }] };

/** Time goes on from where the test sets it; each wait is a moment. */
function timeFrom(at: number) {
  let ahead = at - performance.now();
  return {
    clock: {
      now: () => new Date(ahead + performance.now()),
      sleep: (ms: number, options: { readonly signal: AbortSignal }) => systemClock.sleep(Math.min(ms, 50), options),
    },
    set: (to: number): void => void (ahead = to - performance.now()),
  };
}

const stateOf = async (server: TestServer, id: string): Promise<unknown> =>
  ((await (await server.get(`/api/conversations/${id}`)).json()) as { agent_state: string } | null)?.agent_state;
const dueIn = async (server: TestServer, query = ''): Promise<OldConversations> =>
  (await (await server.get(`/api/retention${query}`)).json()) as OldConversations;
const patch = (server: TestServer, id: string, body: unknown): Promise<Response> =>
  fetch(`${server.url}/api/conversations/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** With so many answers, and stopped, so that the next server opens it only for a client. */
async function rested(server: TestServer, id: string, turns = 1): Promise<string> {
  const answers = async () => {
    const events = await (await server.engine.conversations.log(id))!.read();
    return events.filter((event) => JSON.stringify(event).includes('"agent_state":"awaiting_user_input"')).length;
  };
  await expect.poll(answers, { timeout: 30_000 }).toBe(1 + turns);
  await server.post(`/api/conversations/${id}/stop`);
  return id;
}

const used = async (server: TestServer): Promise<string> => rested(server, await server.create({ initial_user_msg: 'go' }));

it('SV1380, SV1381, SV1384: what nobody used for as long as is configured goes with all it leaves, and what is pinned, at work or waits for a decision stays', async () => {
  const home = temporaryFolder();
  const time = timeFrom(START);
  const begun = await testServer({ home, clock: time.clock, script: [{ text: 'Done.' }, { text: 'Done.' }] });
  const [old, pinned, late] = [await used(begun), await used(begun), await used(begun)];
  expect((await patch(begun, pinned, { is_pinned: true })).status).toBe(200);
  expect((await patch(begun, '0'.repeat(32), { is_pinned: true })).status).toBe(404);
  time.set(START + 20 * DAY_MS);
  await begun.post(`/api/conversations/${late}/message`, { message: 'and?' });
  await rested(begun, late, 2);
  const { workspace } = (await begun.engine.conversations.get(old))!;
  expect(existsSync(workspace)).toBe(true);
  // Without a time that is configured nothing goes, and a time can be tried.
  time.set(START + 40 * DAY_MS);
  expect((await begun.get('/api/retention')).status).toBe(400);
  const tried = await dueIn(begun, '?days=10');
  expect(new Set(tried.conversations.map(({ conversation_id: id }) => id))).toEqual(new Set([old, pinned, late]));
  expect(await (await begun.get('/server_info')).json()).not.toHaveProperty('retention_days');
  await begun.close();

  time.set(START + 25 * DAY_MS);
  const between = await testServer({ home, clock: time.clock, script: [SLOW, { text: 'Done.' }], env: { TENDON_AUDIT: 'on' } });
  const undecided = await between.create({ initial_user_msg: 'go', confirmation_policy: 'always' });
  await expect.poll(() => stateOf(between, undecided), { timeout: 30_000 }).toBe('awaiting_user_confirmation');
  await between.close();

  const server = await testServer({ home, clock: time.clock, script: [SLOW, { text: 'Done.' }], env: RETENTION });
  const busy = await server.create({ initial_user_msg: 'go' });
  const ofBusy = async () => (await server.engine.conversations.log(busy))!.read();
  // Nothing of it comes after the time is set anew.
  await expect.poll(ofBusy, { timeout: 30_000 }).toContainEqual(expect.objectContaining({ action: 'run' }));
  expect(await (await server.get('/server_info')).json()).toMatchObject({ retention_days: 30 });
  time.set(START + 34 * DAY_MS);
  await expect.poll(() => server.engine.conversations.get(old), { timeout: 30_000 }).toBeUndefined();
  await expect.poll(() => existsSync(workspace)).toBe(false);
  await expect.poll(async () => (await server.engine.storage.records.list('active')).some(({ id }) => id === old)).toBe(false);
  expect(await server.engine.conversations.log(old)).toBeUndefined();
  const entries = async () => ((await (await server.get('/api/audit?action=conversation.deleted')).json()) as AuditPage).entries;
  await expect.poll(entries).toEqual([
    expect.objectContaining({
      target: old,
      actor: expect.objectContaining({ name: 'server' }) as unknown,
      detail: expect.objectContaining({ retention_days: 30 }) as unknown,
    }),
  ]);

  time.set(START + 100 * DAY_MS);
  await expect.poll(() => server.engine.conversations.get(late), { timeout: 30_000 }).toBeUndefined();
  const stays = Object.fromEntries((await dueIn(server)).conversations.map(({ conversation_id: id, stays: why }) => [id, why]));
  expect(stays).toEqual({ [pinned]: 'pinned', [undecided]: 'waits for a decision', [busy]: 'open' });
  expect(await (await server.get(`/api/conversations/${pinned}`)).json()).toMatchObject({ is_pinned: true });
  await server.post(`/api/conversations/${busy}/stop`);
  // Taken back, it goes as others do; so does one whose agent was stopped.
  await patch(server, pinned, { is_pinned: false });
  await expect.poll(() => server.engine.conversations.get(pinned), { timeout: 30_000 }).toBeUndefined();
  time.set(START + 200 * DAY_MS);
  await expect.poll(() => server.engine.conversations.get(busy), { timeout: 30_000 }).toBeUndefined();
  expect(await server.engine.conversations.get(undecided)).toBeDefined();
});

it('SV1381: what is used or pinned at the last moment stays', async () => {
  const time = timeFrom(START);
  const server = await testServer({ clock: time.clock, script: [{ text: 'Done.' }] });
  const { conversations } = server.engine;
  const id = await server.create({});
  const isMeant = (record: { readonly is_pinned?: boolean }): boolean => record.is_pinned !== true;
  const pinning = conversations.ends.setPinned(id, true);
  const [deleted] = await Promise.all([conversations.ends.deleteUnused(id, { isMeant }), pinning]);
  expect([deleted, (await conversations.get(id))?.is_pinned]).toEqual([false, true]);
  await conversations.ends.setPinned(id, false);
  const submitting = conversations.submit(id, MessageAction.create({ content: 'hi' }));
  expect(await conversations.ends.deleteUnused(id, { isMeant })).toBe(false);
  expect((await submitting).ok).toBe(true);
  expect(await conversations.ends.deleteUnused('0'.repeat(32), { isMeant })).toBe(false);
});

it('SV1380: what was delegated counts for the conversation that it was delegated in, and goes with it', async () => {
  const home = temporaryFolder();
  const time = timeFrom(START);
  const begun = await testServer({ home, clock: time.clock, script: [{ text: 'Done.' }] });
  const [id, other] = [await used(begun), await used(begun)];
  const delegate = async (parent: string): Promise<string> => {
    const record = (await begun.engine.conversations.get(parent))!;
    const made = await begun.engine.conversations.createDelegated(record, { agent: 'CodeActAgent', actionId: 1 });
    await begun.post(`/api/conversations/${made.id}/stop`);
    return made.id;
  };
  const children = [await delegate(id)];
  time.set(START + 20 * DAY_MS);
  const late = await delegate(other);
  await begun.close();
  time.set(START + 40 * DAY_MS);
  const server = await testServer({ home, clock: time.clock, script: [{ text: 'Done.' }], env: { TENDON_RETENTION_DAYS: '30' } });
  await expect.poll(() => server.engine.conversations.get(id), { timeout: 30_000 }).toBeUndefined();
  const left = async () => (await server.engine.storage.records.list('conversations')).map((record) => record.id);
  await expect.poll(async () => new Set(await left())).toEqual(new Set([other, late]));
  for (const child of children) expect(await server.engine.conversations.log(child)).toBeUndefined();
});
