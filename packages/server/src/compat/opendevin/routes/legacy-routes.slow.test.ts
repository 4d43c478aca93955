import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TaskTrackingObservation } from '@tendon/protocol';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, testServer, type TestServer, type WireFrame } from '../../../server.test-support.ts';
import { authToken, FOUR, initialized, message, wsClient } from '../sockets/ws-client.test-support.ts';

const script = Array.from({ length: 40 }, (_, index) => ({ text: `answer ${index}` }));
const says = (text: string) => (frame: WireFrame) => JSON.stringify(frame).includes(text);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function json(server: TestServer, path: string, token?: string): Promise<unknown> {
  return (await server.get(path, token === undefined ? undefined : bearer(token))).json();
}

/** opendevin-2024-04 with a finished task. */
async function workedSession(server: TestServer): Promise<string> {
  const token = await authToken(server);
  const client = await wsClient(server, `?token=${token}`);
  client.send({ action: 'initialize', args: { ...FOUR, MAX_CHARS: '5000000' } });
  client.send({ action: 'start', args: { task: 'a task' } });
  await client.frames.until(says('answer 0'));
  return token;
}

describe('DL83: tokens of /api/auth', () => {
  it.each(['/api/auth', '/auth'])('%s', async (url) => {
    const server = await testServer();
    const refused = await server.get(url);
    expect([refused.status, await refused.json()]).toMatchObject([403, { detail: 'Not authenticated' }]);
    const first = (await json(server, url, 'null')) as { token: string; status: string };
    expect(first.status).toBe('ok');
    const { sid } = decodeJwt(first.token);
    expect(sid).toMatch(/^[0-9a-f-]{36}$/);
    const again = (await json(server, url, first.token)) as { token: string };
    expect(decodeJwt(again.token)).toEqual({ sid });
    const forged = (await json(server, url, `${first.token}x`)) as { token: string };
    expect(decodeJwt(forged.token).sid).not.toBe(sid);
  });
});

describe('DL85: what opendevin-2024-04 to opendevin-2024-06 resume from', () => {
  it('frames of both directions, and nothing for a session without messages', async () => {
    const server = await testServer({ script });
    const token = await workedSession(server);
    const { messages } = (await json(server, '/api/messages', token)) as { messages: { role: string; payload: WireFrame }[] };
    expect(messages.map(({ role, payload }) => [role, payload.action])).toEqual([
      ['user', 'start'],
      ['assistant', 'think'],
      ['assistant', 'finish'],
    ]);
    expect(messages[0]!.payload.args).toMatchObject({ task: 'a task' });
    expect(await json(server, '/messages/total', token)).toEqual({ msg_total: 3 });
    expect(await json(server, '/api/messages/total', await authToken(server))).toEqual({ msg_total: 0 });
    expect(await json(server, '/messages', 'no.such.token')).toEqual({ messages: [] });
    expect((await server.get('/api/messages')).status).toBe(403);
  });

  it('DELETE begins anew under the same token, at an open socket too, and the old conversation stays', async () => {
    const server = await testServer({ script });
    const token = await authToken(server);
    const client = await wsClient(server, `?token=${token}`);
    client.send({ action: 'initialize', args: FOUR });
    client.send({ action: 'start', args: { task: 'first' } });
    await client.frames.until(says('answer 0'));
    const gone = await fetch(`${server.url}/api/messages`, { method: 'DELETE', headers: bearer(token) });
    expect(await gone.json()).toEqual({ ok: true });
    expect(await json(server, '/api/messages/total', token)).toEqual({ msg_total: 0 });
    client.send({ action: 'start', args: { task: 'second' } });
    await expect.poll(() => client.frames.all.filter(says('answer 0')).length).toBe(2);
    expect(
      ((await json(server, '/api/conversations')) as { results: { title: string }[] }).results.map(({ title }) => title).toSorted(),
    ).toEqual(['first', 'second']);
  });
});

describe('DL86: whose conversation', () => {
  it('is refused in the words of its time', async () => {
    const server = await testServer({ script });
    for (const path of ['/api/list-files', '/api/select-file?file=a', '/api/root_task', '/api/zip-directory']) {
      expect(await json(server, path)).toMatchObject({ error: 'Missing Authorization header' });
      expect(await json(server, path, 'x')).toMatchObject({ error: 'Invalid token' });
    }
    const client = await wsClient(server);
    const { token } = await client.frames.until((frame) => 'token' in frame);
    const answer = await server.get('/api/list-files', bearer(String(token)));
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: 'Session not found' }]);
    expect((await server.get('/api/list-files', bearer(String(token)))).headers.get('content-type')).toContain('json');
  });

  it('a plan is there when the agent made one', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    const token = await initialized(client, { ...FOUR, CONFIRMATION_MODE: false });
    expect((await server.get('/api/root_task', bearer(token))).status).toBe(204);
    client.send(message('plan it'));
    await client.frames.untilState('awaiting_user_input');
    const [record] = await server.engine.conversations.list({ limit: 1 });
    const log = (await server.engine.conversations.log(record!.id))!;
    const list = [{ id: '1', title: 'Look', status: 'done', notes: '' }];
    const plan = TaskTrackingObservation.create('One item.', { command: 'plan', task_list: list });
    await log.append([{ source: 'agent', ...plan }], { expectedId: log.nextId });
    const task = await json(server, '/api/root_task', token);
    expect(task).toMatchObject({
      id: '0',
      goal: 'plan it',
      state: 'completed',
      subtasks: [{ goal: 'Look', state: 'completed', subtasks: [] }],
    });
    expect(JSON.parse((await json(server, '/api/plan', token)) as string)).toEqual({ mainGoal: 'plan it', task });
  });

  it('catalogues need no token and have every week’s name', async () => {
    const server = await testServer();
    const models = await json(server, '/api/options/models');
    for (const path of ['/api/litellm-models', '/litellm-models'])
      expect(new Set((await json(server, path)) as string[])).toEqual(new Set(models as string[]));
    for (const path of ['/api/litellm-agents', '/litellm-agents', '/api/agents'])
      expect(await json(server, path)).toContain('CodeActAgent');
    expect(await json(server, '/default-model')).toBe('demo');
    expect(await json(server, '/api/configurations')).toMatchObject({ LLM_MODEL: 'demo', LANGUAGE: 'en' });
    expect(await json(server, '/api/configurations')).not.toHaveProperty('LLM_API_KEY');
    expect(await json(server, '/api/defaults')).toMatchObject({ llm: { model: { type: 'str', optional: false, default: 'demo' } } });
  });
});

describe('DL87: files', () => {
  const write = {
    toolCalls: [{ name: 'execute_bash', arguments: { command: 'mkdir -p src empty && echo one > a.txt && echo two > src/b.txt' } }],
  };

  it('by token for opendevin-2024-07, without one for opendevin-2024-04', async () => {
    const server = await testServer({ script: [write, { text: 'end' }] });
    const auth = await authToken(server);
    const client = await wsClient(server, `?token=${auth}`);
    client.send({ action: 'initialize', args: { ...FOUR, MAX_CHARS: '1' } });
    client.send({ action: 'start', args: { task: 'go' } });
    await client.frames.until(says('end'));
    expect(await json(server, '/api/list-files', auth)).toEqual(['empty/', 'src/', 'a.txt']);
    expect(await json(server, '/api/list-files?path=/', auth)).toEqual(['/empty/', '/src/', '/a.txt']);
    expect(await json(server, '/api/list-files?path=/src/', auth)).toEqual(['/src/b.txt']);
    expect(await json(server, '/api/list-files?path=src/', auth)).toEqual(['src/b.txt']);
    expect(await json(server, '/api/list-files?path=/workspace/src', auth)).toEqual(['/workspace/src/b.txt']);
    for (const file of ['src/b.txt', '/src/b.txt', '/workspace/src/b.txt']) {
      expect(await json(server, `/api/select-file?file=${file}`, auth)).toEqual({ code: 'two\n' });
    }
    expect(await json(server, '/select-file?file=a.txt')).toEqual({ code: 'one\n' });
    expect(await json(server, '/refresh-files')).toEqual({
      name: 'workspace',
      children: [
        { name: 'a.txt', children: [] },
        { name: 'src', children: [{ name: 'b.txt', children: [] }] },
      ],
    });
    const missing = await server.get('/api/select-file?file=nope', bearer(auth));
    expect([missing.ok, await missing.json()]).toMatchObject([false, { error: expect.stringContaining('Error opening file') as string }]);
  });

  it('SV235: existing files of a workspace are listed for opendevin-2024-04, which asks while its socket opens', async () => {
    const base = temporaryFolder();
    mkdirSync(join(base, 'src'));
    writeFileSync(join(base, 'src', 'there.txt'), 'before');
    const server = await testServer({ env: { WORKSPACE_BASE: base }, script });
    const token = await authToken(server);
    const listed = json(server, '/api/refresh-files');
    const client = await wsClient(server, `?token=${token}`);
    client.send({ action: 'initialize', args: { ...FOUR, MAX_CHARS: '1' } });
    expect(await listed).toEqual({ name: 'workspace', children: [{ name: 'src', children: [{ name: 'there.txt', children: [] }] }] });
  });

  it('SV235: no request waits where there can be no files', async () => {
    const server = await testServer({ script });
    expect(await json(server, '/api/refresh-files')).toEqual({ name: 'workspace', children: [] });
    const client = await wsClient(server, `?token=${await authToken(server)}`);
    client.send({ action: 'initialize', args: { ...FOUR, MAX_CHARS: '1' } });
    await client.frames.until((frame) => frame.action === 'initialize');
    expect(await json(server, '/api/refresh-files')).toEqual({ name: 'workspace', children: [] });
    const [record] = await server.engine.conversations.list({ limit: 1 });
    expect(server.engine.runtimes.current(record!.id)).toBeUndefined();
  });

  it('one file of opendevin-2024-05 lands in the workspace, under its last name only', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    const token = await initialized(client, FOUR);
    client.send({ action: 'run', args: { command: 'true' } });
    await client.frames.until((frame) => frame.observation === 'run');
    const upload = async (name: string, field = 'file') => {
      const body = new FormData();
      body.append(field, new Blob(['some bytes']), name);
      return fetch(`${server.url}/api/upload-file`, { method: 'POST', headers: bearer(token), body });
    };
    expect(await (await upload('../../notes.txt')).json()).toEqual({ filename: 'notes.txt', location: '/workspace/notes.txt' });
    expect(await json(server, '/api/select-file?file=notes.txt', token)).toEqual({ code: 'some bytes' });
    for (const answer of [await upload('..'), await upload('a', 'other')]) expect(answer.status).toBe(400);
  });

  it('several files of opendevin-2024-07, the archive, the events and the names of 0.15', async () => {
    const server = await testServer({ script });
    const client = await wsClient(server);
    const token = await initialized(client, { ...FOUR, CONFIRMATION_MODE: false });
    client.send({ action: 'run', args: { command: 'true' } });
    await client.frames.until((frame) => frame.observation === 'run');
    const body = new FormData();
    for (const name of ['a.txt', 'b.txt']) body.append('files', new Blob([name]), name);
    body.append('uploadedFilesCount', '2');
    const answer = await fetch(`${server.url}/api/upload-files`, { method: 'POST', headers: bearer(token), body });
    expect(await answer.json()).toEqual({
      message: 'File upload process completed',
      file_count: 2,
      uploaded_files: ['a.txt', 'b.txt'],
      skipped_files: [],
    });
    expect(await json(server, '/api/list-files', token)).toEqual(['a.txt', 'b.txt']);
    const saved = await server.post('/api/save-file', { filePath: '/a.txt', content: 'new' }, bearer(token));
    expect(await saved.json()).toEqual({ message: 'File saved successfully' });
    expect(await json(server, '/api/select-file?file=/a.txt', token)).toEqual({ code: 'new' });
    const zip = await server.get('/api/zip-directory', bearer(token));
    expect([
      zip.headers.get('content-type'),
      Buffer.from(await zip.arrayBuffer())
        .subarray(0, 2)
        .toString(),
    ]).toEqual(['application/zip', 'PK']);
    const { events } = (await json(server, '/api/events/search?limit=2', token)) as { events: unknown[] };
    expect(events).toHaveLength(2);
    expect(await json(server, '/api/conversation', token)).toHaveProperty('session_id');
    expect((await server.get('/api/security/settings', bearer(token))).status).toBe(404);
  });
});
