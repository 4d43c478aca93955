import { readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';
import { readTrajectory } from './read-trajectory.ts';

type Recorded = { id: number; source: string; action?: string; observation?: string; content?: string; args?: Record<string, unknown> };

const bash = (command: string, text = '') => ({ text, toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const user = (content: string) => ({ action: 'message', source: 'user', args: { content } });

async function trajectory(server: TestServer, id: string): Promise<Recorded[]> {
  return ((await (await server.get(`/api/conversations/${id}/trajectory`)).json()) as { trajectory: Recorded[] }).trajectory;
}

async function untilState(server: TestServer, id: string, state: string): Promise<void> {
  const now = async () => ((await (await server.get(`/api/conversations/${id}`)).json()) as { agent_state: string }).agent_state;
  await expect.poll(now, { timeout: 50_000 }).toBe(state);
}

itInFull('SV30: the recorded actions are done again in order, then the model goes on', async () => {
  const base = temporaryFolder();
  const script = [
    bash('echo one >> log', 'First I begin.'),
    bash('echo two >> log; cat log'),
    { text: 'Both are there.' },
    { text: 'From the model.' },
  ];
  const server = await testServer({ script, env: { WORKSPACE_BASE: base } });
  const first = await server.create({ initial_user_msg: 'write two lines' });
  await untilState(server, first, 'awaiting_user_input');
  const recorded = await trajectory(server, first);
  rmSync(join(base, 'log'));

  for (const replay_json of [recorded, JSON.stringify(recorded)]) {
    const id = await server.create({ replay_json });
    await untilState(server, id, 'awaiting_user_input');
    expect(readFileSync(join(base, 'log'), 'utf8')).toBe('one\ntwo\n');
    const replayed = await trajectory(server, id);
    const outline = (events: Recorded[]) =>
      events.flatMap((event) => (event.action === 'run' ? [event.args?.command] : event.observation === 'run' ? [event.content] : []));
    expect(outline(replayed)).toEqual(outline(recorded));
    expect(replayed.find(({ action }) => action === 'message')?.args?.content).toBe('write two lines');
    await server.post(`/api/conversations/${id}/message`, { message: 'and now?' });
    await expect
      .poll(async () =>
        (await trajectory(server, id)).some(({ args, source }) => source === 'agent' && args?.content === 'From the model.'),
      )
      .toBe(true);
    rmSync(join(base, 'log'));
  }
});

it('SV30: a server that is started again goes on where the recording stood', async () => {
  const home = temporaryFolder();
  const base = temporaryFolder();
  const env = { WORKSPACE_BASE: base };
  const script = [bash('unused'), bash('unused'), { text: 'From the model.' }];
  const run = (command: string) => ({ action: 'run', source: 'agent', args: { command } });
  const before = await testServer({ home, env, script });
  const replay_json = [user('go'), run('echo a >> log'), run('mkfifo gate; cat gate; echo b >> log')];
  const id = await before.create({ replay_json });
  await expect
    .poll(async () => (await trajectory(before, id)).filter(({ action }) => action === 'run').length, { timeout: 90_000 })
    .toBe(2);
  await before.close();
  const after = await testServer({ home, env, script });
  await after.post(`/api/conversations/${id}/events`, { action: 'run', args: { command: 'true', is_static: true } });
  await expect.poll(() => readFileSync(join(base, 'log'), 'utf8')).toBe('a\n');
  const written = writeFile(join(base, 'gate'), 'x');
  await untilState(after, id, 'awaiting_user_input');
  await written;
  expect(readFileSync(join(base, 'log'), 'utf8')).toBe('a\nb\n');
  expect((await trajectory(after, id)).at(-1)).toBeDefined();
});

it.each([
  ['no JSON', '{'],
  ['no array', { trajectory: [] }],
  ['empty', []],
  ['not objects', [1]],
  ['no user first', [{ action: 'run', source: 'agent', args: { command: 'x' } }]],
  ['an agent first', [{ action: 'message', source: 'agent', args: { content: 'x' } }]],
  ['an empty task', [user(' ')]],
  ['prototypes', [{ __proto__: null, action: 'message', args: 'x' }]],
  ['depth', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['length', Array.from({ length: 20_001 }, () => user('x'))],
])('SV30: %s is refused', (_name, replay_json) => {
  expect(readTrajectory(replay_json).ok).toBe(false);
});

it('SV30: what cannot be replayed is reported, ends but the last are left out', () => {
  const read = readTrajectory([
    { observation: 'agent_state_changed', source: 'environment' },
    user('go'),
    { action: 'recall', source: 'user', args: {} },
    { action: 'finish', source: 'agent', args: { final_thought: 'early' } },
    { action: 'delegate', source: 'agent', args: { agent: 'BrowsingAgent', inputs: {} } },
    { action: 'constructor', source: 'agent', args: {} },
    { action: 'edit', source: 'agent', args: { path: '/workspace/a', content: 'drafted', start: 1 } },
    { action: 'task_tracking', source: 'agent', args: { command: 'plan', task_list: [] } },
    { action: 'reject', source: 'agent', args: { outputs: { reason: 'early' } } },
    { action: 'write', source: 'agent', args: { path: "it's", content: 'a\n' } },
    { action: 'run', source: 'environment', args: { command: 'setup' } },
    { action: 'run', source: 'user', args: { command: 'mine' } },
    { action: 'think', source: 'user', args: { thought: 'not mine' } },
    { action: 'message', source: 'agent', args: { content: 'Nearly.' } },
    { action: 'finish', source: 'agent', args: { final_thought: 'late' } },
  ]);
  const reported = (what: string) => ({
    text: '',
    call: { name: 'think', arguments: { thought: expect.stringContaining(what) as string }, isRunnable: false },
  });
  expect(read.ok && read.trajectory.answers).toEqual([
    reported('a delegation'),
    reported('"constructor"'),
    reported('a drafting model'),
    {
      text: '',
      call: {
        name: 'execute_bash',
        arguments: { command: `mkdir -p -- "$(dirname -- 'it'\\''s')" && printf %s 'a\n' > 'it'\\''s'` },
        isRunnable: true,
      },
    },
    { text: '', call: { name: 'execute_bash', arguments: { command: 'mine' }, isRunnable: true } },
    { text: 'Nearly.', call: { name: 'finish', arguments: { message: 'late' }, isRunnable: false } },
  ]);
});

it('SV30: cells, pages and calls of tools are done again, too; the answer of the trajectory route is taken as it is', () => {
  const events = [
    user('go'),
    { action: 'run_ipython', source: 'agent', timeout: 30, args: { code: 'x = 6 * 7', thought: 'Compute.' } },
    { action: 'browse', source: 'agent', args: { url: 'http://localhost:8000' } },
    { action: 'browse_interactive', source: 'agent', args: { browser_actions: 'click("12")' } },
    { action: 'call_tool_mcp', source: 'agent', args: { name: 'fetch_fetch', arguments: { url: 'x' } } },
    { action: 'reject', source: 'agent', args: { outputs: { reason: 'No.' } } },
  ];
  const answered = { trajectory: events };
  for (const replay_json of [answered, JSON.stringify(answered)]) {
    const read = readTrajectory(replay_json);
    expect(read.ok && read.trajectory.answers).toMatchObject([
      { text: 'Compute.', call: { name: 'execute_ipython_cell', arguments: { code: 'x = 6 * 7', timeout: 30 } } },
      { call: { name: 'web_read', arguments: { url: 'http://localhost:8000' } } },
      { call: { name: 'browser', arguments: { code: 'click("12")' } } },
      { call: { name: 'fetch_fetch', arguments: { url: 'x' } } },
      { call: { name: 'reject', arguments: { reason: 'No.' } } },
    ]);
  }
});

it('SV30: a tool that nobody offers any more is reported, and what comes after is done', async () => {
  const call = { action: 'call_tool_mcp', source: 'agent', args: { name: 'gone_tool', arguments: {} } };
  const server = await testServer({ script: [{ text: 'unused' }, { text: 'unused' }, { text: 'From the model.' }] });
  const id = await server.create({ replay_json: [user('go'), call, { action: 'think', source: 'agent', args: { thought: 'After.' } }] });
  await untilState(server, id, 'awaiting_user_input');
  const replayed = await trajectory(server, id);
  expect(replayed.find(({ observation }) => observation === 'error')?.content).toContain('gone_tool');
  expect(replayed.find(({ action }) => action === 'think')?.args?.thought).toBe('After.');
});

it('SV30: nonsense is 400 over REST', async () => {
  const server = await testServer();
  const refused = await server.post('/api/conversations', { replay_json: '[]' });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { status: 'error', message: expect.stringContaining('replay_json') as string },
  ]);
  expect(await (await server.get('/api/conversations')).json()).toMatchObject({ results: [] });
});

it('SV31: instructions reach the agent, buttons say what to begin with', async () => {
  const server = await testServer({ script: [{ text: 'ok' }] });
  const id = await server.create({ conversation_instructions: 'Always answer in verse.', initial_user_msg: 'hi' });
  await untilState(server, id, 'awaiting_user_input');
  const system = (await trajectory(server, id)).find(({ action }) => action === 'system');
  expect(system?.args?.content).toContain('Always answer in verse.');
  const task = { git_provider: 'github', task_type: 'OPEN_ISSUE', repo: 'o/r', issue_number: 7, title: 'Bug' };
  const suggested = await server.create({ suggested_task: task });
  expect(await (await server.get(`/api/conversations/${suggested}`)).json()).toMatchObject({ trigger: 'suggested_task' });
  expect((await trajectory(server, suggested)).find(({ action }) => action === 'message')?.args?.content).toContain('o/r#7');
});

it.each(['confirmation_state', 'is_confirmed'])(
  'SV30: what waited or was turned down (%s) is not done, and what was confirmed once',
  (key) => {
    const run = (command: string, state: string, thought = '') => ({
      action: 'run',
      source: 'agent',
      args: { command, thought, [key]: state },
    });
    const read = readTrajectory([
      user('go'),
      run('rm -r x', 'awaiting_confirmation', 'Away with it.'),
      run('rm -r x', 'rejected'),
      run('ls', 'awaiting_confirmation', 'Look.'),
      run('ls', 'confirmed'),
    ]);
    if (!read.ok) throw new Error(read.problem);
    expect(read.trajectory.answers).toMatchObject([{ text: 'Away with it.\nLook.', call: { arguments: { command: 'ls' } } }]);
  },
);
