import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type TestServer } from '../../server.test-support.ts';

const TEST_MS = 120_000;
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const plan = { toolCalls: [{ name: 'present_plan', arguments: { plan: 'Write a file.' } }] };

function patch(server: TestServer, id: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}/api/conversations/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function shown(server: TestServer, id: string) {
  return (await (await server.get(`/api/conversations/${id}`)).json()) as { agent: string; is_read_only: boolean; llm_model: string };
}

it(
  'EN820: an agent that plans cannot change the workspace; its approved plan is carried out, by the agent before it, in one that can be changed',
  async () => {
    const directory = temporaryFolder();
    // The other agent has the same script: it is offered neither `delegate` nor `present_plan`, and its `touch made` fails.
    const script = [
      bash('touch planned; echo "it is $?"'),
      { toolCalls: [{ name: 'delegate', arguments: { task: 'Touch a file.', agent: 'CodeActAgent' } }] },
      plan,
      plan,
      bash('touch made; echo "now it is $?"'),
      { text: 'done' },
    ];
    const env = { RUNTIME: 'local', TENDON_ALLOWED_DIRS: directory };
    const server = await testServer({ script, env });
    const id = await server.create({ directory, agent: 'PlanAgent' });
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    expect(await shown(server, id)).toMatchObject({ agent: 'PlanAgent', is_read_only: true });
    client.send({ action: 'message', args: { content: 'Make a file.' } });
    const question = await client.frames.until((frame) => frame.action === 'message' && frame.source === 'agent', 'the plan');
    expect(question).toMatchObject({ args: { choices: ['Carry out this plan', 'Change the plan'] } });
    const outputs = () => client.frames.all.filter(({ observation }) => observation === 'run').map(({ content }) => String(content));
    expect(outputs()[0]).toMatch(/read-only[^]*it is 1/i);
    expect(readdirSync(directory)).toEqual([]);
    const [child] = await server.engine.conversations.list({ limit: 1 });
    expect(await shown(server, child!.id)).toMatchObject({ agent: 'CodeActAgent', is_read_only: true });
    await client.ask('Another plan, please.');
    expect(await shown(server, id)).toMatchObject({ agent: 'PlanAgent' });
    client.send({ action: 'message', args: { content: 'Carry out this plan' } });
    await client.frames.until((frame) => frame.observation === 'run' && String(frame.content).includes('now it is 0'), 'the work');
    expect(readdirSync(directory)).toEqual(['made']);
    expect(await shown(server, id)).toMatchObject({ agent: 'CodeActAgent', is_read_only: false });
    expect(client.frames.all).toContainEqual(
      expect.objectContaining({ observation: 'success', content: expect.stringContaining('can be changed again') }),
    );
  },
  TEST_MS,
);

it(
  'EN821, EN982: agent and model are changed between turns, by name; an unknown name is refused with those that there are',
  async () => {
    const directory = temporaryFolder();
    mkdirSync(join(directory, '.agents/agents'), { recursive: true });
    const file =
      '---\nname: reviewer\ndescription: reviews\ntools: Read, Grep, Bash, delegate\nmodel: openai/dear\nconfirmation: never\n---\nReview.';
    writeFileSync(join(directory, '.agents/agents/reviewer.md'), file);
    writeFileSync(join(directory, '.agents/agents/looker.md'), '---\ntools: [Read, Grep]\n---\nLook.');
    writeFileSync(join(directory, '.agents/agents/taker.md'), '---\nname: PlanAgent\n---\nTake its name.');
    const home = temporaryFolder();
    mkdirSync(join(home, 'agents'));
    writeFileSync(join(home, 'agents/mine.md'), '---\ndescription: my own\nmodel: scripted/other\ntools: [Read, Grep]\n---\nBe mine.');
    const server = await testServer({ home, script: [{ text: 'one' }], env: { RUNTIME: 'local', TENDON_ALLOWED_DIRS: directory } });
    const usual = (await (await server.get('/api/options/agents')).json()) as string[];
    expect(usual).toEqual(['CodeActAgent', 'ExploreAgent', 'PlanAgent', 'mine']);
    const id = await server.create({ directory });
    const wrong = await patch(server, id, { agent: 'nobody' });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain(
      'there is no agent \\"nobody\\"; there are CodeActAgent, ExploreAgent, PlanAgent, mine, looker, reviewer',
    );
    const before = await shown(server, id);
    expect((await patch(server, id, { agent: 'reviewer' })).status).toBe(200);
    expect(await shown(server, id)).toMatchObject({ agent: 'reviewer', is_read_only: false, llm_model: before.llm_model });
    expect(await server.engine.conversations.get(id)).toMatchObject({
      agent_file: { name: 'reviewer', tools: ['str_replace_editor', 'grep', 'execute_bash', 'delegate'], prompt: 'Review.' },
    });
    expect((await server.engine.conversations.get(id))?.agent_file).not.toHaveProperty('model');
    expect((await patch(server, id, { agent: 'mine' })).status).toBe(200);
    expect(await shown(server, id)).toMatchObject({ agent: 'mine', is_read_only: true, llm_model: 'scripted/other' });
    expect((await patch(server, id, { llm_model: 'demo' })).status).toBe(200);
    expect(await shown(server, id)).toMatchObject({ agent: 'mine', llm_model: 'demo' });
    expect((await patch(server, id, {})).status).toBe(422);
    expect((await patch(server, '0'.repeat(32), { agent: 'mine' })).status).toBe(404);

    const begun = await server.create({ directory, agent: 'reviewer' });
    expect((await server.engine.conversations.get(begun))?.agent_file, 'EN982').toMatchObject({ name: 'reviewer', prompt: 'Review.' });
    await server.post('/api/settings', { agent: 'looker' });
    expect(await shown(server, await server.create({ directory })), 'EN982').toMatchObject({ agent: 'looker', is_read_only: true });
    expect(await shown(server, await server.create({ directory, agent: 'nobody' }))).toMatchObject({
      agent: 'nobody',
      is_read_only: false,
    });
  },
  TEST_MS,
);

it('EN822: an agent of a file has its prompt, its tools and no others, and the agent of the settings begins a conversation', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'agents'));
  writeFileSync(join(home, 'agents/asker.md'), '---\ntools: execute_bash, no_such_tool\n---\nAsk before everything.');
  const server = await testServer({ home, script: [{ text: 'one' }] });
  await server.post('/api/settings', { agent: 'asker' });
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  const { args } = (await client.frames.until((frame) => frame.action === 'system', 'the introduction')) as unknown as {
    args: { content: string; tools: { function: { name: string } }[]; agent_class: string };
  };
  expect(args.agent_class).toBe('asker');
  expect(args.content).toContain('Ask before everything.');
  expect(args.tools.map((tool) => tool.function.name)).toEqual(['execute_bash', 'finish']);
});

it('RT821: where sandboxes mount nothing read-only, an agent that needs it is refused', async () => {
  const server = await testServer({ script: [{ text: 'one' }] });
  const id = await server.create();
  const refused = await patch(server, id, { agent: 'PlanAgent' });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('cannot mount a workspace read-only');
  expect(await shown(server, id)).toMatchObject({ agent: 'CodeActAgent' });
});
