import { expect, it } from 'vitest';
import { socketIoClient, testServer } from '../server.test-support.ts';

const bash = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo one' } }], times: 3 };

it('CL965: limits and the policy of confirmation of one conversation hold in place of the settings', async () => {
  const server = await testServer({ script: [bash, { text: 'done' }] });
  const create = async (body: object) => {
    const answer = await server.post('/api/conversations', body);
    return ((await answer.json()) as { conversation_id: string }).conversation_id;
  };
  const careful = await create({ confirmation_policy: 'always' });
  expect(await (await server.get(`/api/conversations/${careful}/confirmation`)).json()).toMatchObject({ mode: 'always' });
  const short = await create({ max_iterations: 2, max_budget_per_task: 0.5, llm_model: 'demo' });
  expect(await (await server.get(`/api/conversations/${short}`)).json()).toMatchObject({ llm_model: 'demo' });
  expect(await server.engine.conversations.get(short)).toMatchObject({ max_iterations: 2, max_budget_usd: 0.5 });
  const limited = await create({ max_iterations: 2 });
  const client = await socketIoClient(server, { conversation_id: limited, latest_event_id: -1 });
  client.send({ action: 'message', args: { content: 'begin' } });
  await client.frames.untilState('error');
  expect((await server.post('/api/conversations', { max_iterations: 0 })).status).toBe(422);
});

it('SV990: a key below admin gives a conversation no higher budget than the settings', async () => {
  const owner = { 'x-session-api-key': 'open-sesame-and-more-1' };
  const server = await testServer({ sessionApiKey: owner['x-session-api-key'], env: { MAX_BUDGET_PER_TASK: '3' } });
  const { key } = (await (await server.post('/api/keys', { name: 'a', scope: 'drive' }, owner)).json()) as { key: string };
  const drive = { 'x-session-api-key': key };
  const statusOf = async (budget: number, by: Record<string, string>) =>
    (await server.post('/api/conversations', { max_budget_per_task: budget }, by)).status;
  expect([await statusOf(3, drive), await statusOf(3.01, drive), await statusOf(3.01, owner)]).toEqual([200, 400, 200]);
  await server.post('/api/settings', { max_budget_per_task: 5 }, owner);
  expect([await statusOf(5, drive), await statusOf(6, drive)]).toEqual([200, 400]);
});
