/** The limit on simultaneous requests to a model's endpoint, over all conversations of a server, and what waiting conversations can do. */
import { join } from 'node:path';
import { openSqliteStorage } from '@tendon/core/storage';
import { AgentStateChangedObservation, MessageAction, SystemAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { socketIoClient, temporaryFolder, testServer, type SocketIoClient, type TestServer } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import { HeldEndpoint } from './held-endpoint.test-support.ts';

async function serverOf(endpoint: HeldEndpoint, limit: number, home?: string): Promise<TestServer> {
  const model = { LLM_MODEL: 'openai/x', LLM_API_KEY: 'sk-of-the-tests', LLM_BASE_URL: endpoint.url };
  return testServer({ ...(home && { home }), env: { ...model, LLM_MAX_CONCURRENT_REQUESTS: String(limit) } });
}

/** A conversation with a client, which says its task. */
async function at(server: TestServer, task: string): Promise<SocketIoClient> {
  const client = await socketIoClient(server, { conversation_id: await server.create(), latest_event_id: -1 });
  await client.frames.untilState('awaiting_user_input');
  client.send({ action: 'message', args: { content: task } });
  await client.frames.untilState('running');
  return client;
}

const isWaiting = ({ status_update, message }: Readonly<Record<string, unknown>>): boolean =>
  status_update === true && String(message).startsWith('Waiting for the model');

it('LM95, LM97: further requests wait in order, shown as a status and not as an error, until one ends', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 2);
  const [a, b] = [await at(server, 'job-a'), await at(server, 'job-b')];
  await Promise.all([endpoint.untilAsked('job-a'), endpoint.untilAsked('job-b')]);
  const c = await at(server, 'job-c');
  expect(await c.frames.until(isWaiting)).toMatchObject({ type: 'info', message: expect.stringContaining('2 other requests') });
  const d = await at(server, 'job-d');
  await d.frames.until(isWaiting);
  expect([endpoint.open, endpoint.most]).toEqual([2, 2]);

  (await endpoint.untilAsked('job-b')).answer();
  (await endpoint.untilAsked('job-c')).answer();
  (await endpoint.untilAsked('job-a')).answer();
  (await endpoint.untilAsked('job-d')).answer();
  for (const client of [a, b, c, d]) {
    await client.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
    expect(client.frames.all.filter(({ observation }) => observation === 'error')).toEqual([]);
  }
  await c.frames.until(({ status_update, message }) => status_update === true && message === '', 'the end of the wait');
  expect([endpoint.most, endpoint.asked.all.length]).toEqual([2, 4]);
});

it('LM96: stopping or pausing a waiting conversation ends its wait at once, and the next one moves up', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 1);
  await at(server, 'job-a');
  const first = await endpoint.untilAsked('job-a');
  const [b, c, d] = [await at(server, 'job-b'), await at(server, 'job-c'), await at(server, 'job-d')];
  for (const client of [b, c, d]) await client.frames.until(isWaiting);
  b.send({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
  await b.frames.untilState('stopped');
  c.send({ action: 'change_agent_state', args: { agent_state: 'paused' } });
  await c.frames.untilState('paused');
  expect(endpoint.asked.all).toHaveLength(1);

  first.answer();
  (await endpoint.untilAsked('job-d')).answer();
  c.send({ action: 'change_agent_state', args: { agent_state: 'running' } });
  (await endpoint.untilAsked('job-c')).answer();
  expect(endpoint.asked.all.map(({ task }) => task)).toEqual(['job-a', 'job-d', 'job-c']);
});

it('LM98: a pause before a retry holds no place', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 1);
  const a = await at(server, 'job-a');
  const b = await at(server, 'job-b');
  await b.frames.until(isWaiting);
  (await endpoint.untilAsked('job-a')).refuse(429, { 'retry-after': '600' });
  await a.frames.untilState('rate_limited');
  (await endpoint.untilAsked('job-b')).answer();
  await b.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
  expect(endpoint.asked.all.map(({ task }) => task)).toEqual(['job-a', 'job-b']);
});

itInFull('LM38: a model, key or address that is chosen during a pause is asked at once, not when the pause is over', async () => {
  const [broken, whole, own] = [await HeldEndpoint.start(), await HeldEndpoint.start(), await HeldEndpoint.start()];
  const server = await serverOf(broken, 1);
  const a = await at(server, 'job-a');
  (await broken.untilAsked('job-a')).refuse(429, { 'retry-after': '3000' });
  await a.frames.untilState('rate_limited');
  await server.post('/api/settings', { llm_model: 'openai/y', llm_base_url: whole.url, llm_api_key: 'another-key' });
  (await whole.untilAsked('job-a')).refuse(429, { 'retry-after': '3000' });
  // As often as it is needed.
  await server.post('/api/settings', { llm_model: 'openai/z', llm_base_url: own.url, llm_api_key: 'a-third-key' });
  (await own.untilAsked('job-a')).answer();
  await a.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
  expect([broken, whole, own].map(({ asked }) => asked.all.length)).toEqual([1, 1, 1]);
  expect(a.frames.all.filter(({ observation }) => observation === 'error')).toEqual([]);
});

const LETTERS = 'abcdefghijklmnopqrst';

/** The store of a server that was killed while its agents were about to ask the model; the last letter was used last. */
async function homeAtWork(): Promise<string> {
  const home = temporaryFolder();
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock: systemClock });
  const state = (agent_state: 'awaiting_user_input' | 'running') => ({
    source: 'environment' as const,
    ...AgentStateChangedObservation.create('', { agent_state, reason: '' }),
  });
  for (const [index, letter] of [...LETTERS].entries()) {
    const id = `at-work-${letter}`;
    const created_at = '2026-11-01T08:00:00.000Z';
    const updated_at = `2026-11-${String(index + 1).padStart(2, '0')}T09:00:00.000Z`;
    const value = {
      id,
      title: id,
      created_at,
      updated_at,
      workspace: home,
      agent: 'CodeActAgent',
      model: '',
      trigger: 'gui',
      selected_repository: null,
    };
    await storage.records.put('conversations', { id, sort: created_at, value });
    await storage.records.put('active', { id, sort: '', value: {} });
    const message = { source: 'user' as const, ...MessageAction.create({ content: `job-${letter}` }) };
    const drafts = [
      { source: 'agent' as const, ...SystemAction.create({ content: 'You are.' }) },
      state('awaiting_user_input'),
      message,
      state('running'),
    ];
    await (await storage.events.open(id)).append(drafts, { expectedId: 0 });
  }
  await storage.close();
  return home;
}

it('SV202, LM95: after a restart all go on, those used last first, and simultaneous requests stay within the limit', async () => {
  const home = await homeAtWork();
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 3, home);
  await expect.poll(() => endpoint.open).toBe(3);
  await expect.poll(() => server.engine.conversations.openCount).toBe(LETTERS.length);
  // Four are opened at once, and the first of them to come asks first.
  expect(endpoint.asked.all.every(({ task }) => ['job-q', 'job-r', 'job-s', 'job-t'].includes(task))).toBe(true);
  const states = async (): Promise<readonly string[]> => {
    const { results } = (await (await server.get('/api/conversations?limit=100')).json()) as { results: { agent_state: string }[] };
    return results.map(({ agent_state }) => agent_state);
  };
  // An open one may still be about to go on.
  await expect.poll(states).toEqual(Array.from(LETTERS, () => 'running'));
  for (let answered = 0; answered < LETTERS.length; answered++) {
    await expect.poll(() => endpoint.asked.all.length).toBeGreaterThan(answered);
    endpoint.asked.all[answered]!.answer();
  }
  const rests = () =>
    [...LETTERS].every((letter) => server.engine.conversations.state(`at-work-${letter}`)?.agentState === 'awaiting_user_input');
  await expect.poll(rests).toBe(true);
  expect([endpoint.most, endpoint.asked.all.length]).toEqual([3, LETTERS.length]);
});
