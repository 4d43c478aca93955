/** A server that is killed while a git provider opens a pull request for its agent. */
import { io } from 'socket.io-client';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import { fakeProvider } from '../../packages/server/src/git-providers/apis/fake-provider.test-support.ts';

const TOKEN = 'ghp_0123456789';
const PULL = { repo_name: 'ann/tools', source_branch: 'fix', target_branch: 'main', title: 'Mend it' };
const WAIT = { timeout: 50_000 };

interface LogEvent {
  readonly observation?: string;
  readonly content?: string;
  readonly extras?: Readonly<Record<string, unknown>>;
}

it('SV164: what was cut off may be open; called again, the agent is given that one, and its number is stored', async () => {
  const shown = { number: 11, html_url: 'https://github.example/ann/tools/pull/11', head: { ref: 'fix' } };
  let opened = 0;
  const github = await fakeProvider(TOKEN, {
    'GET /api/v3/user': () => ({ body: { id: 1, login: 'ann', avatar_url: '' } }),
    'GET /api/v3/repos/ann/tools/pulls': () => ({ body: [shown] }),
    'POST /api/v3/repos/ann/tools/pulls': () => {
      if (opened > 0) return { status: 422, body: { message: 'A pull request already exists for ann:fix.' } };
      opened += 1;
      return 'never';
    },
  });
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const tendon = await TendonProcess.start({
    LLM_MODEL: 'openai/gpt-4o',
    LLM_API_KEY: 'key-of-no-one',
    LLM_BASE_URL: model.url,
    RUNTIME: 'none',
  });
  onTestFinished(() => tendon.remove());
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(tendon.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };

  await post('/api/add-git-providers', { provider_tokens: { github: { token: TOKEN, host: github.origin } } });
  const id = String((await post('/api/conversations', {})).conversation_id);
  const call = { call: 'create_pr', args: PULL };
  const content = model.script([call, call, { call: 'finish', args: { message: 'done' } }]);
  await post(`/api/conversations/${id}/events`, { action: 'message', args: { content } });
  await expect.poll(() => opened, WAIT).toBe(1);
  await tendon.kill('SIGKILL');
  await tendon.start();

  const seen: LogEvent[] = [];
  const socket = io(tendon.url, { query: { conversation_id: id, latest_event_id: '-1' }, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  socket.on('oh_event', (event: LogEvent) => seen.push(event));
  await expect.poll(() => seen.some(({ extras }) => extras?.agent_state === 'finished'), WAIT).toBe(true);
  expect(seen.find(({ observation }) => observation === 'error')).toMatchObject({ extras: { error_id: 'AGENT_ERROR$OUTCOME_UNKNOWN' } });
  expect(seen.filter(({ observation }) => observation === 'mcp').map((each) => each.content)).toEqual([shown.html_url]);
  const info = (await (await fetch(`${tendon.url}/api/conversations/${id}`)).json()) as { readonly pr_number: readonly number[] };
  expect([info.pr_number, opened]).toEqual([[11], 1]);
});
