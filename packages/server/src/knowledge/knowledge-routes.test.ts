import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMicroagent } from '../git-providers/read-microagent.ts';
import { temporaryFolder, testServer } from '../server.test-support.ts';

describe('SV34: microagents', () => {
  it('are read from the workspace and the repositories in it', async () => {
    const base = temporaryFolder();
    const server = await testServer({ env: { WORKSPACE_BASE: base } });
    const put = (path: string, text: string) => {
      mkdirSync(join(base, path, '..'), { recursive: true });
      writeFileSync(join(base, path), text);
    };
    put('.openhands/microagents/repo.md', 'Use tabs.');
    put('.openhands/microagents/deep/db.md', '---\nname: database\ntriggers:\n- postgres\n- sql\n---\nAsk first.\n');
    put('.openhands/microagents/README.md', 'not one');
    put('inner/AGENTS.md', 'Run make.');
    const answer = await (await server.get(`/api/conversations/${await server.create()}/microagents`)).json();
    const rest = { inputs: [], tools: [] };
    expect(answer).toEqual({
      microagents: [
        { name: 'agents', type: 'repo', content: 'Run make.', triggers: [], ...rest },
        { name: 'database', type: 'knowledge', content: 'Ask first.', triggers: ['postgres', 'sql'], ...rest },
        { name: 'repo', type: 'repo', content: 'Use tabs.', triggers: [], ...rest },
      ],
    });
    const missing = await server.get(`/api/conversations/${'0'.repeat(32)}/microagents`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: 'Agent session not found for this conversation' }]);
  });

  it.each([
    ['---\n: [\n---\ntext', 'text'],
    ['---\n- a\n---\ntext', 'text'],
    ['---\na: &a [x]\nb: [*a, *a]\n---\ntext', 'text'],
    ['---\nnever closed', '---\nnever closed'],
    ['', ''],
    ['---\r\ntriggers: [a, 1, null]\r\n---\r\ntext\r\n', 'text'],
  ])('%j is read as far as it goes', (markdown, content) => {
    expect(readMicroagent('x', markdown)).toMatchObject({ name: 'x', content });
  });
});

it('SV35, SV150: feedback is stored here, and what to remember is what the user wrote', async () => {
  const server = await testServer();
  const id = await server.create({ initial_user_msg: 'Always use pnpm here.' });
  const feedback = { email: 'a@b.c', version: '1.0', permissions: 'private', polarity: 'positive' };
  const answer = (await (await server.post(`/api/conversations/${id}/submit-feedback`, feedback)).json()) as { feedback_id: string };
  const { feedback_id } = answer;
  const stored = { message: expect.any(String) as string, feedback_id, password: '' };
  expect(answer, 'SV150').toEqual({ ...stored, statusCode: 200, body: stored });
  expect(await server.engine.storage.records.get('feedback', answer.feedback_id)).toMatchObject({
    polarity: 'positive',
    conversation_id: id,
  });
  for (const name of ['remember-prompt', 'remember_prompt']) {
    const prompt = await (await server.get(`/api/conversations/${id}/${name}?event_id=3`)).json();
    expect(prompt).toMatchObject({ status: 'success', prompt: expect.stringContaining('Always use pnpm here.') as string });
  }
  expect((await server.get(`/api/conversations/${id}/remember-prompt`)).status).toBe(422);
  expect((await server.get(`/api/conversations/${id}/remember-prompt?event_id=999999`)).status).toBe(404);
});

it('SV10: what there is nothing to say to is answered as clients expect', async () => {
  const server = await testServer();
  const url = `/api/conversations/${await server.create()}`;
  expect(await (await server.post(`${url}/exp-config`, {})).json()).toBe(true);
  expect(await (await server.get(`${url}/config`)).json()).toMatchObject({ runtime_id: null });
  expect(await (await server.get(`${url}/vscode-url`)).json()).toMatchObject({ vscode_url: null });
  for (const path of ['config', 'web-hosts', 'vscode-url']) {
    const missing = await server.get(`/api/conversations/${'0'.repeat(32)}/${path}`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { detail: `Conversation ${'0'.repeat(32)} not found` }]);
  }
  const analyzer = await server.get(`${url}/security/policy`);
  expect([analyzer.status, await analyzer.json()]).toMatchObject([404, { detail: 'Security analyzer not initialized' }]);
  expect(await (await server.get('/api/v1/app-conversations/search')).json()).toEqual({ items: [], next_page_id: null });
  expect(await (await server.get('/api/v1/app-conversations/count')).json()).toBe(0);
  const { backend_host, backend_port, use_tls } = (await (await server.get('/api/backend-settings')).json()) as Record<string, unknown>;
  expect(`http://${String(backend_host)}:${String(backend_port)}`).toBe(server.url);
  expect(use_tls).toBe(false);
});
