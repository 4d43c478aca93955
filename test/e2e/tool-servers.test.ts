/** MCP servers that the settings or a conversation name: in the sandbox and over HTTP, a broken one beside them, and a crash in the middle of a call. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { type ScriptedModel, startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import { clockServer } from '../../packages/server/src/mcp/clock-server.test-support.ts';

interface LogEvent {
  readonly id?: number;
  readonly cause?: number;
  readonly action?: string;
  readonly observation?: string;
  readonly content?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly status_update?: boolean;
  readonly message?: string;
}

const TOKEN = 'a-token-of-notes';
const KEY = 'a-key-of-clocks';
const WAIT = { timeout: 50_000 };

let model: ScriptedModel;
let tendon: TendonProcess;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-tools-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  mkdirSync(join(folder, 'base'));
  copyFileSync(join(import.meta.dirname, 'tool-server.py'), join(folder, 'base/tool-server.py'));
  model = await startScriptedModel();
  onTestFinished(() => model.close());
  tendon = await TendonProcess.start({
    LLM_MODEL: 'openai/gpt-4o',
    LLM_API_KEY: 'key-of-no-one',
    LLM_BASE_URL: model.url,
    WORKSPACE_BASE: join(folder, 'base'),
  });
  onTestFinished(() => tendon.remove());
});

const file = (name: string): string => join(folder, 'base', name);
const post = (path: string, body: unknown): Promise<Response> =>
  fetch(tendon.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const NOTES = { name: 'notes', command: 'python3', args: ['/workspace/tool-server.py'], env: { NOTES_TOKEN: TOKEN } };

async function settle(mcp_config: object): Promise<void> {
  expect((await post('/api/settings', { llm_model: 'openai/gpt-4o', mcp_config })).status).toBe(200);
}

/** A new conversation whose model is offered these tools: on a busy machine a server may be met a turn later. */
async function conversationWith(tools: readonly string[], body: object = {}): Promise<string> {
  const { conversation_id: id } = (await (await post('/api/conversations', body)).json()) as { conversation_id: string };
  await untilOffered(id, tools);
  return id;
}

/** All that its model is offered then. */
async function untilOffered(id: string, tools: readonly string[]): Promise<readonly string[]> {
  let names: readonly string[] = [];
  const missing = async (): Promise<readonly string[]> => {
    const words = model.script([{ text: 'ready' }]);
    await say(id, words);
    await expect.poll(() => model.requests(words).length, WAIT).toBeGreaterThan(0);
    const { tools: offered } = model.requests(words)[0] as { readonly tools: readonly { readonly function: { readonly name: string } }[] };
    names = offered.map((tool) => tool.function.name);
    return tools.filter((name) => !names.includes(name));
  };
  await expect.poll(missing, WAIT).toEqual([]);
  return names;
}

async function say(id: string, content: string): Promise<void> {
  expect((await post(`/api/conversations/${id}/events`, { action: 'message', args: { content } })).status).toBe(200);
}

function watch(id: string): LogEvent[] {
  const seen: LogEvent[] = [];
  const socket = io(tendon.url, { query: { conversation_id: id, latest_event_id: '-1' }, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  socket.on('oh_event', (event: LogEvent) => seen.push(event));
  return seen;
}

const isFinished = (seen: readonly LogEvent[]) => (): boolean => seen.some(({ extras }) => extras?.agent_state === 'finished');

itInFull('SV136, SV137, SV138: an agent uses tools in the sandbox and over HTTP, and a broken server keeps nobody from it', async () => {
  const url = await clockServer(KEY);
  await settle({
    stdio_servers: [NOTES, { name: 'broken', command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] }],
    shttp_servers: [{ url: `${url}/mcp`, api_key: KEY }],
    sse_servers: [{ url: `${url}/sse`, api_key: KEY }, 'http://127.0.0.1:1/nobody'],
  });
  const id = await conversationWith(['notes_add', '127_0_0_1_zone', '127_0_0_12_zone']);
  const seen = watch(id);
  await say(
    id,
    model.script([
      { call: 'notes_add', args: { text: 'buy milk' } },
      { call: '127_0_0_1_zone', args: { city: 'Rome' } },
      { call: '127_0_0_12_zone', args: { city: 'Oslo' } },
      { call: '127_0_0_12_fail', args: {} },
      { call: 'broken_add', args: {} },
      { call: 'finish', args: { message: 'done' } },
    ]),
  );
  await expect.poll(isFinished(seen), WAIT).toBe(true);
  expect(seen.filter(({ action }) => action === 'call_tool_mcp').map(({ args }) => args)).toMatchObject([
    { name: 'notes_add', arguments: { text: 'buy milk' } },
    { name: '127_0_0_1_zone', arguments: { city: 'Rome' } },
    { name: '127_0_0_12_zone', arguments: { city: 'Oslo' } },
    { name: '127_0_0_12_fail' },
  ]);
  const results = seen.filter(({ observation }) => observation === 'mcp');
  expect(results.map(({ content }) => content)).toEqual([
    '<secret_hidden> stored buy milk',
    'noon in Rome',
    'noon in Oslo',
    'The tool failed: no clock is there',
  ]);
  expect(results[0]).toMatchObject({ extras: { name: 'notes_add', arguments: { text: 'buy milk' } }, cause: expect.any(Number) as number });
  expect(seen.find(({ observation }) => observation === 'error')?.content).toContain('There is no tool "broken_add"');
  const shown = await (await fetch(`${tendon.url}/api/settings`)).text();
  expect([shown.includes(TOKEN), shown.includes(KEY), shown.includes('notes')]).toEqual([false, false, true]);
  const stored = ['tendon.db', 'tendon.db-wal'].map((name) => readFileSync(join(tendon.home, name)));
  expect([TOKEN, KEY].filter((secret) => stored.some((bytes) => bytes.includes(secret)))).toEqual([]);
});

it('EN150: what was under way when the server was killed is not called again, and its outcome is reported as unknown', async () => {
  await settle({ stdio_servers: [NOTES] });
  const id = await conversationWith(['notes_wait']);
  await say(
    id,
    model.script([
      { call: 'notes_wait', args: {} },
      { call: 'finish', args: { message: 'done' } },
    ]),
  );
  await expect.poll(() => existsSync(file('calls')), WAIT).toBe(true);
  await tendon.kill('SIGKILL');
  writeFileSync(file('go'), '');
  await tendon.start();
  const seen = watch(id);
  await expect.poll(isFinished(seen), WAIT).toBe(true);
  expect(seen.find(({ observation }) => observation === 'error')).toMatchObject({ extras: { error_id: 'AGENT_ERROR$OUTCOME_UNKNOWN' } });
  expect(readFileSync(file('calls'), 'utf8')).toBe('wait\n');
});

it('EN151: a call that is stopped is cancelled, and the log does not say that it was not executed', async () => {
  await settle({ stdio_servers: [NOTES] });
  const id = await conversationWith(['notes_wait']);
  await say(id, model.script([{ call: 'notes_wait', args: {} }]));
  await expect.poll(() => existsSync(file('calls')), WAIT).toBe(true);
  await post(`/api/conversations/${id}/events`, { action: 'change_agent_state', args: { agent_state: 'stopped' } });
  const seen = watch(id);
  await expect.poll(() => seen.some(({ extras }) => extras?.agent_state === 'stopped'), WAIT).toBe(true);
  expect(seen.find(({ observation }) => observation === 'error')?.content).toContain(
    'it was cancelled. It may have been carried out all the same.',
  );
});

it('SV160, SV161: a conversation made with servers of its own has those instead, also after the server was killed', async () => {
  await settle({ stdio_servers: [NOTES] });
  const url = await clockServer(KEY);
  const zone = '127_0_0_1_zone';
  const id = await conversationWith([zone], { mcp_config: { shttp_servers: [{ url: `${url}/mcp`, api_key: KEY }] } });
  await tendon.kill('SIGKILL');
  await tendon.start();
  expect(await untilOffered(id, [zone])).not.toContain('notes_add');
  const seen = watch(id);
  await say(
    id,
    model.script([
      { call: zone, args: { city: `Rome, not ${KEY}` } },
      { call: 'finish', args: { message: 'done' } },
    ]),
  );
  await expect.poll(isFinished(seen), WAIT).toBe(true);
  expect(seen.filter(({ observation }) => observation === 'mcp').map(({ content }) => content)).toEqual([
    'noon in Rome, not <secret_hidden>',
  ]);
  await conversationWith(['notes_add']);
  const stored = ['tendon.db', 'tendon.db-wal'].map((name) => readFileSync(join(tendon.home, name)));
  expect(stored.some((bytes) => bytes.includes(KEY))).toBe(false);
});
