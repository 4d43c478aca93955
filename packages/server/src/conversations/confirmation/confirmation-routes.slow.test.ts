import type { ConversationConfirmation, SavedRules } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type TestServer, type WireFrame } from '../../server.test-support.ts';

const OWNER_KEY = 'the-key-of-the-owner';
const owner = { 'x-session-api-key': OWNER_KEY };
type Headers = Readonly<Record<string, string>>;

async function ask(
  server: TestServer,
  path: string,
  options: { readonly method?: string; readonly body?: unknown; readonly headers?: Headers } = {},
) {
  const { method = 'GET', body, headers } = options;
  return fetch(`${server.url}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const shown = async (response: Response) => (await response.json()) as ConversationConfirmation;
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

it('TR718: a rule that is saved for a conversation is listed, holds at once, and is taken back', async () => {
  const script = [bash('echo one'), bash('echo two'), bash('echo three'), { text: 'done' }];
  const server = await testServer({ script, env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  const id = await server.create();
  const path = `/api/conversations/${id}/confirmation`;
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  client.send({ action: 'message', args: { content: 'begin' } });
  await client.frames.untilState('awaiting_user_confirmation');
  const before = await shown(await ask(server, path));
  expect(before).toMatchObject({ mode: 'rules', analyzer: 'rules', rules: [], general_rules: [] });
  expect(before.suggestions).toEqual([{ decision: 'allow', command: 'echo' }]);
  expect((await shown(await ask(server, path, { method: 'PUT', body: { rules: before.suggestions } }))).rules).toEqual(before.suggestions);
  client.send({ action: 'change_agent_state', args: { agent_state: 'user_confirmed' } });
  await client.frames.until((frame) => frame.observation === 'run' && frame.content === 'three');
  expect(await server.engine.conversations.get(id)).toMatchObject({ confirmation_rules: before.suggestions });
  expect((await shown(await ask(server, path, { method: 'PUT', body: { rules: [] } }))).rules).toEqual([]);
});

it('TR911: rules are added and taken back one by one, at the same time, and none is lost', async () => {
  const server = await testServer({ script: [{ text: 'hello' }] });
  const id = await server.create();
  const path = `/api/conversations/${id}/confirmation/rules`;
  const rules = Array.from({ length: 12 }, (_, index) => ({ decision: 'allow' as const, command: `make t${index}` }));
  const commands = async (at: string) =>
    ((await (await ask(server, at)).json()) as SavedRules).rules.map(({ rule }) => rule.command).toSorted();
  const wanted = rules.map(({ command }) => command).toSorted();
  await Promise.all(rules.map((rule) => ask(server, path, { method: 'POST', body: { rules: [rule, rules[0]] } })));
  expect(await commands(path)).toEqual(wanted);
  await server.post('/api/settings', { confirmation_rules: rules });
  expect(await commands('/api/rules')).toEqual(wanted);
  for (const at of [path, '/api/rules']) {
    const saved = ((await (await ask(server, at)).json()) as SavedRules).rules;
    const [left] = saved.splice(5, 1);
    const removed = await Promise.all(saved.map((rule) => ask(server, `${at}/${rule.id}`, { method: 'DELETE' })));
    expect(removed.map(({ status }) => status)).toEqual(saved.map(() => 200));
    expect(await commands(at)).toEqual([left!.rule.command]);
    expect((await ask(server, `${at}/${saved[0]!.id}`, { method: 'DELETE' })).status).toBe(404);
  }
  const full = Array.from({ length: 500 }, (_, index) => ({ decision: 'deny', command: `c${index}` }));
  expect((await ask(server, path, { method: 'POST', body: { rules: full } })).status).toBe(400);
  expect(await commands(path)).toHaveLength(1);
});

it('TR718: a rule for all conversations, or for those of a repository, is one of the settings; it needs the scope admin', async () => {
  const server = await testServer({ sessionApiKey: OWNER_KEY, script: [{ text: 'hello' }] });
  const { key } = (await (await server.post('/api/keys', { name: 'a', scope: 'drive' }, owner)).json()) as { key: string };
  const drive = { 'x-session-api-key': key };
  const made = (await (await server.post('/api/conversations', {}, owner)).json()) as { conversation_id: string };
  const path = `/api/conversations/${made.conversation_id}/confirmation`;
  const rule = { decision: 'allow', command: 'git status' } as const;
  const body = { rule, scope: 'everywhere' };
  expect((await ask(server, `${path}/always`, { method: 'POST', body, headers: drive })).status).toBe(403);
  expect((await ask(server, path, { method: 'PUT', body: { rules: [rule] }, headers: drive })).status).toBe(200);
  expect((await shown(await ask(server, `${path}/always`, { method: 'POST', body, headers: owner }))).general_rules).toEqual([rule]);
  expect((await shown(await ask(server, `${path}/always`, { method: 'POST', body, headers: owner }))).general_rules).toEqual([rule]);
  const here = { rule, scope: 'repository' };
  expect((await ask(server, `${path}/always`, { method: 'POST', body: here, headers: owner })).status).toBe(400);
  const settings = (await (await server.get('/api/settings', owner)).json()) as { confirmation_rules: unknown };
  expect(settings.confirmation_rules).toEqual([rule]);
  await server.post('/api/settings', { confirmation_rules: [{ ...rule, repository: 'a/b' }] }, owner);
  expect((await shown(await ask(server, path, { headers: owner }))).general_rules).toEqual([]);
  expect((await server.post('/api/settings', { confirmation_rules: [{ decision: 'allow' }] }, owner)).status).toBe(422);
  expect((await ask(server, '/api/conversations/none/confirmation', { headers: owner })).status).toBe(404);
});

it('SV1090: the policy of a conversation is changed while it runs: its log says so, what waits and is allowed runs, and a restart keeps it', async () => {
  const script = [bash('echo one'), bash('echo two'), { text: 'done' }];
  const home = temporaryFolder();
  const server = await testServer({ home, script, env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  const id = await server.create();
  const path = `/api/conversations/${id}/confirmation`;
  const put = (body: unknown, to = server) => ask(to, path, { method: 'PUT', body });
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  client.send({ action: 'message', args: { content: 'begin' } });
  await client.frames.untilState('awaiting_user_confirmation');
  expect(await shown(await ask(server, path))).toMatchObject({
    mode: 'rules',
    mode_by: 'server',
    analyzer: 'rules',
    analyzer_by: 'server',
  });
  expect(await shown(await put({ policy: 'always', analyzer: 'llm' }))).toMatchObject({
    mode: 'always',
    mode_by: 'conversation',
    analyzer: 'llm',
    analyzer_by: 'conversation',
  });
  const note = (mode: string) => client.frames.until(({ extras }) => extras?.confirmation_policy === mode, `the notice of ${mode}`);
  expect(await note('always')).toMatchObject({ observation: 'success', content: expect.stringContaining('every action') });
  await put({ policy: 'always' });
  expect((await shown(await put({ rules: [{ decision: 'allow', command: 'echo one' }], policy: 'rules' }))).mode).toBe('rules');
  await client.frames.until((frame) => frame.observation === 'run' && frame.content === 'one');
  const asks = (frame: WireFrame) => JSON.stringify(frame).includes('echo two') && JSON.stringify(frame).includes('awaiting_confirmation');
  await client.frames.until(asks, 'the second question');
  expect(client.frames.all.filter(({ extras }) => extras?.confirmation_policy === 'always')).toHaveLength(1);
  for (const body of [{}, { policy: 'sometimes' }, { analyzer: 'none' }]) expect((await put(body)).ok).toBe(false);
  expect((await ask(server, '/api/conversations/none/confirmation', { method: 'PUT', body: { policy: 'never' } })).status).toBe(404);
  await server.close();
  const again = await testServer({ home, script: script.slice(1), env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  expect(await shown(await ask(again, path))).toMatchObject({ mode: 'rules', mode_by: 'conversation', analyzer: 'llm' });
  const later = await socketIoClient(again, { conversation_id: id, latest_event_id: -1 });
  await later.frames.untilState('awaiting_user_confirmation');
  await put({ policy: 'never' }, again);
  await later.frames.until((frame) => frame.observation === 'run' && frame.content === 'two');
  expect(await shown(await put({ policy: null }, again))).toMatchObject({
    mode: 'rules',
    mode_by: 'server',
    analyzer_by: 'conversation',
  });
  expect(await shown(await put({ analyzer: null }, again))).toMatchObject({ mode_by: 'server', analyzer_by: 'server' });
});

it('SV1091: a policy reaches the conversations that work for this one, and those to come', async () => {
  const server = await testServer({ script: [{ text: 'hello' }] });
  const { conversations } = server.engine;
  const parent = (await conversations.get(await server.create()))!;
  const child = await conversations.createDelegated(parent, { actionId: 7, agent: 'CodeActAgent' });
  expect((await ask(server, `/api/conversations/${parent.id}/confirmation`, { method: 'PUT', body: { policy: 'always' } })).ok).toBe(true);
  const later = await conversations.createDelegated(parent, { actionId: 8, agent: 'CodeActAgent' });
  for (const { id } of [child, later])
    expect(await shown(await server.get(`/api/conversations/${id}/confirmation`))).toMatchObject({ mode: 'always' });
});

it('SV1092: a client that connects again with its switch the other way changes the policy, and one that did not touch it does not', async () => {
  const server = await testServer({ script: [{ text: 'hello' }] });
  const { conversations } = server.engine;
  const created = await conversations.create({ confirmationMode: false });
  if (!created.ok) throw new Error(created.error.message);
  const { id } = created.record;
  const path = `/api/conversations/${id}/confirmation`;
  const mode = async () => (await shown(await ask(server, path))).mode;
  await ask(server, path, { method: 'PUT', body: { policy: 'always' } });
  await conversations.configure(id, { confirmationMode: false });
  expect(await mode()).toBe('always');
  await conversations.configure(id, { confirmationMode: true });
  expect(await mode()).toBe('rules');
  const plain = await server.create();
  await conversations.configure(plain, { confirmationMode: true });
  expect((await shown(await ask(server, `/api/conversations/${plain}/confirmation`))).mode).toBe('never');
});
