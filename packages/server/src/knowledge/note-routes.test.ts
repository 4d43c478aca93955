import { readFileSync } from 'node:fs';
import { NoteFileList } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { agentOf } from '../conversations/agents/agent-of.ts';
import { socketIoClient, temporaryFolder, testConfig, testServer, type WireFrame } from '../server.test-support.ts';

const note = (text: string) => ({ toolCalls: [{ name: 'note', arguments: { about: 'user', text } }] });
const recallOf = (frames: readonly WireFrame[]) =>
  String(frames.find(({ observation }) => observation === 'recall')?.extras?.additional_agent_instructions);

it('EN920, EN921, EN924: a later conversation begins with what was noted, as the person corrected it', async () => {
  const server = await testServer({ script: [note('Prefers npm.'), { text: 'done' }] });
  const begin = async (): Promise<readonly WireFrame[]> => {
    const client = await socketIoClient(server, { conversation_id: await server.create() });
    await client.ask('begin');
    return client.frames.all;
  };
  const first = await begin();
  expect(recallOf(first)).not.toContain('npm');
  expect(first.find(({ extras }) => extras?.note)).toMatchObject({
    content: 'Noted, about the user: Prefers npm.',
    extras: { note: { file: 'notes/user.md' } },
  });
  const { files } = NoteFileList.parse(await (await server.get('/api/notes')).json());
  expect(files).toMatchObject([{ name: 'user', text: '- Prefers npm.\n' }]);
  expect(readFileSync(files[0]!.path, 'utf8')).toBe('- Prefers npm.\n');
  expect(recallOf(await begin())).toContain('- Prefers npm.');

  const put = (body: object) =>
    fetch(`${server.url}/api/notes`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  expect(await (await put({ name: 'user', text: 'Prefers pnpm.' })).json()).toMatchObject({ name: 'user', text: 'Prefers pnpm.' });
  expect(recallOf(await begin())).toContain('- Prefers pnpm.');
  // SV1004: an agent noted something since it was read.
  const late = { name: 'user', text: 'Prefers yarn.', replaces: '- Prefers npm.\n' };
  expect((await put(late)).status).toBe(409);
  const [now] = NoteFileList.parse(await (await server.get('/api/notes')).json()).files;
  expect((await put({ ...late, replaces: now!.text })).status).toBe(200);
  for (const body of [{ name: '../user', text: '' }, { name: 'user', text: 'x\n'.repeat(201) }, { name: 'user' }])
    expect((await put(body)).status, JSON.stringify(body)).toBe(422);
  expect((await put({ name: 'user', text: '' })).status).toBe(200);
  expect(NoteFileList.parse(await (await server.get('/api/notes')).json()).files).toMatchObject([{ name: 'user', text: '' }]);
});

it('EN925: the tool is offered neither to who does a part of the work, nor where nothing may be changed, nor where it is switched off', () => {
  const names = (record: object, env: Readonly<Record<string, string>> = {}) =>
    agentOf({ agent: 'CodeActAgent', ...record }, testConfig('/nowhere', env), []).tools.map(({ spec }) => spec.name);
  expect(names({})).toContain('note');
  expect(names({ agent: 'PlanAgent' })).not.toContain('note');
  expect(names({ delegated_by: { conversation_id: 'a', action_id: 1 } })).not.toContain('note');
  expect(names({}, { AGENT_TOOLS: 'grep' })).not.toContain('note');
});

it('EN925: where it is switched off, conversations do not begin with notes', async () => {
  const home = temporaryFolder();
  const writing = await testServer({ home, script: [note('Prefers npm.'), { text: 'done' }] });
  await (await socketIoClient(writing, { conversation_id: await writing.create() })).ask('begin');
  await writing.close();
  const server = await testServer({ home, env: { AGENT_TOOLS: 'grep' }, script: [{ text: 'done' }] });
  const client = await socketIoClient(server, { conversation_id: await server.create() });
  await client.ask('begin');
  expect(recallOf(client.frames.all)).not.toContain('npm');
});
