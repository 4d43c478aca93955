/** Servers of tools that the settings name: in the sandbox and over HTTP, a broken one beside them, and a crash in the middle of a call. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { io } from 'socket.io-client';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startScriptedModel, type ScriptedModel } from '../../packages/cli/src/conformance/scripted-model.ts';
import { TendonProcess } from '../support/tendon-process.ts';

interface Seen {
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
async function conversationWith(tools: readonly string[]): Promise<string> {
  const { conversation_id: id } = (await (await post('/api/conversations', {})).json()) as { conversation_id: string };
  const missing = async (): Promise<readonly string[]> => {
    const words = model.script([{ text: 'ready' }]);
    await say(id, words);
    await expect.poll(() => model.requests(words).length, WAIT).toBeGreaterThan(0);
    const { tools: offered } = model.requests(words)[0] as { readonly tools: readonly { readonly function: { readonly name: string } }[] };
    return tools.filter((name) => !offered.some((tool) => tool.function.name === name));
  };
  await expect.poll(missing, WAIT).toEqual([]);
  return id;
}

async function say(id: string, content: string): Promise<void> {
  expect((await post(`/api/conversations/${id}/events`, { action: 'message', args: { content } })).status).toBe(200);
}

function watch(id: string): Seen[] {
  const seen: Seen[] = [];
  const socket = io(tendon.url, { query: { conversation_id: id, latest_event_id: '-1' }, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  socket.on('oh_event', (event: Seen) => seen.push(event));
  return seen;
}

const isFinished = (seen: readonly Seen[]) => (): boolean => seen.some(({ extras }) => extras?.agent_state === 'finished');

/** What the official server library serves: one tool, asked with a key. */
async function clocks(): Promise<string> {
  const streams = new Map<string, SSEServerTransport>();
  const server = (): McpServer => {
    const clock = new McpServer({ name: 'clocks', version: '1.0.0' });
    clock.registerTool('zone', { description: 'The time there.', inputSchema: { city: z.string() } }, ({ city }) => ({
      content: [{ type: 'text', text: `noon in ${city}` }],
    }));
    clock.registerTool('fail', { description: 'Fails.' }, () => {
      throw new Error('no clock is there');
    });
    return clock;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return void response.writeHead(401).end();
    const url = new URL(request.url!, 'http://clocks');
    if (url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      streams.set(transport.sessionId, transport);
      return server().connect(transport);
    }
    if (url.pathname === '/messages') return streams.get(url.searchParams.get('sessionId')!)!.handlePostMessage(request, response);
    const transport = new StreamableHTTPServerTransport({});
    await server().connect(transport as Transport);
    return transport.handleRequest(request, response);
  };
  return listening(createServer((request, response) => void answer(request, response)));
}

async function listening(http: Server): Promise<string> {
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

it('SV136, SV137, SV138: an agent uses tools in the sandbox and over HTTP, and a broken server keeps nobody from it', async () => {
  const url = await clocks();
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
    '<secret_hidden> kept buy milk',
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

it('EN150: what was under way when the server was killed is not called again, and its outcome is said to be unknown', async () => {
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
