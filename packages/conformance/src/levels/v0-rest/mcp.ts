import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Check } from '../../check.ts';
import type { Target, Answer, ServerJson } from '../../target/target.ts';
import { hasStatus } from '../shapes.ts';
import { join, observationIn, turn, type JoinedConversation } from '../v0-socketio/join.ts';
import { isState } from '../../target/frames.ts';

const KEY = 'a-key-of-the-conformance-tools';

/** A conversation that was made with a server of one tool. */
async function converseWithServer(target: Target): Promise<{ readonly id: string; readonly server: McpServer }> {
  const server = await startMcpServer(KEY);
  target.defer(() => server.close());
  return { id: await target.converse({ mcp_config: { shttp_servers: [{ url: server.url, api_key: KEY }] } }), server };
}

async function joinWithServer(target: Target): Promise<JoinedConversation & { readonly server: McpServer }> {
  const { id, server } = await converseWithServer(target);
  const peer = join(target, id);
  await peer.frames.until('awaiting_user_input', isState('awaiting_user_input'));
  return { id, peer, server };
}

/** By what name the model is offered the tool: on a busy machine its server is met a turn later. */
async function offeredName(target: Target, ready: JoinedConversation): Promise<string> {
  return target.eventually('tool of the server among those that the model is offered', async () => {
    const words = target.model.script([{ text: 'Not yet.' }]);
    const from = ready.peer.frames.all.length;
    ready.peer.send({ action: 'message', args: { content: words } });
    await ready.peer.frames.until('running', isState('running'), { from });
    await ready.peer.frames.until('the end of the turn', isState('awaiting_user_input', 'finished'), { from });
    const tools = target.model.requests(words)[0]?.tools as unknown as readonly { readonly function: { readonly name: string } }[];
    return tools.map((tool) => tool.function.name).find((name) => name.endsWith('zone_time'));
  });
}

/** MCP servers that a conversation is made with, and the server as an MCP server itself. The settings, which all conversations share, are left alone. */
export const mcp: readonly Check[] = [
  {
    id: 'v0-rest/own-tool-servers',
    title: 'the model of a conversation that is made with `mcp_config` is offered its tools, and a call is in the log with its answer',
    cites: ['SV136', 'SV160'],
    async run(target) {
      const ready = await joinWithServer(target);
      const name = await offeredName(target, ready);
      const frames = await turn(target, ready, [{ call: name, args: { city: 'Rome' } }]);
      const action = frames.find((frame) => frame.action === 'call_tool_mcp');
      assert.partialDeepStrictEqual(action?.args, { name, arguments: { city: 'Rome' } });
      const observation = observationIn(frames, 'mcp');
      assert.equal(observation.cause, action?.id);
      assert.match(String(observation.content), /It is noon there\./);
      assert.deepEqual(ready.server.calls, [{ city: 'Rome' }]);
    },
  },
  {
    id: 'v0-rest/own-tool-servers-key',
    title: 'a key in `mcp_config` of a conversation leaves through no answer about it',
    cites: ['SV161'],
    async run(target) {
      const { id } = await converseWithServer(target);
      for (const path of ['', '/events?limit=100', '/trajectory', '/config'].map((end) => `/api/conversations/${id}${end}`))
        assert.ok(!(await target.ask('GET', path)).text.includes(KEY), `${path} has the key`);
      for (const path of ['/api/conversations?limit=100', '/api/settings'])
        assert.ok(!(await target.ask('GET', path)).text.includes(KEY), `${path} has the key`);
    },
  },
  {
    id: 'v0-rest/tool-servers',
    title:
      'the configuration of MCP servers is strict, in settings and conversations: what does not fit is 422, and nothing is stored or made',
    cites: ['DL43', 'DL45', 'SV161'],
    async run(target) {
      const mcp_config = { sse_servers: [{ address: 'http://127.0.0.1:1' }] };
      for (const path of ['/api/settings', '/api/conversations']) hasStatus(await target.ask('POST', path, { body: { mcp_config } }), 422);
      hasStatus(await target.ask('POST', '/api/conversations', { body: { mcp_config: { shttp_servers: [{ url: 'nowhere' }] } } }), 422);
      assert.doesNotMatch((await target.ask('GET', '/api/settings')).text, /127\.0\.0\.1:1"/);
    },
  },
  {
    id: 'v0-rest/pull-request-tools',
    title: '`/mcp/mcp` speaks the Model Context Protocol and offers the tools of 0.62 that open pull requests, with their arguments',
    cites: ['SV162', 'T3'],
    async run(target) {
      const clientInfo = { name: 'conformance', version: '1' };
      const greeting = await resultOf(target, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
      assert.ok(greeting.capabilities?.tools, JSON.stringify(greeting));
      const { tools } = await resultOf(target, 'tools/list', {});
      const found = tools as unknown as readonly { readonly name: string; readonly inputSchema: { readonly properties: object } }[];
      for (const [name, names] of Object.entries(ARGUMENTS)) {
        const properties = found.find((tool) => tool.name === name)?.inputSchema.properties ?? {};
        assert.deepEqual(Object.keys(properties).toSorted(), names.toSorted(), name);
      }
    },
  },
  {
    id: 'v0-rest/pull-request-refused',
    title: 'a pull request that cannot be opened, and a call that does not fit, are results that are marked as errors, in words',
    cites: ['SV162', 'SV163'],
    async run(target) {
      for (const args of [NOWHERE, { ...NOWHERE, title: null }]) {
        const result = await resultOf(target, 'tools/call', { name: 'create_pr', arguments: args });
        assert.equal(result.isError as unknown, true, JSON.stringify(result));
        const [words] = result.content as unknown as readonly { readonly text: string }[];
        assert.ok(words!.text.length > 5, JSON.stringify(result));
      }
    },
  },
  {
    id: 'v0-rest/tools-refuse',
    title: 'a body that is no message to the tools is refused, and the next one is answered',
    cites: ['SV165'],
    async run(target) {
      const headers = { ...HEADERS, 'content-type': 'application/json' };
      for (const body of ['{"jsonrpc"', '"hello"', '{"hello":1}', '[]']) {
        const answer = await target.ask('POST', '/mcp/mcp', { body, headers });
        assert.ok(answer.status >= 400 && answer.status < 500, `${body}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
      assert.ok((await resultOf(target, 'tools/list', {})).tools);
    },
  },
];

interface McpServer {
  /** Of the Model Context Protocol over HTTP. */
  readonly url: string;
  /** Arguments of the calls that came with the key, in order. */
  readonly calls: readonly unknown[];
  close(): void;
}

interface McpRequest {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string; readonly arguments?: unknown };
}

const TOOL = {
  name: 'zone_time',
  description: 'Returns the time in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** A server of one tool, `zone_time`, that asks for a key. On loopback, like the model: the server under test must be on this machine. */
async function startMcpServer(key: string): Promise<McpServer> {
  const calls: unknown[] = [];
  const outcomeOf = ({ method, params }: McpRequest): object | undefined => {
    if (method === 'tools/list') return { tools: [TOOL] };
    if (method === 'initialize') {
      const { protocolVersion = '2025-03-26' } = params ?? {};
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'conformance', version: '1' } };
    }
    if (method !== 'tools/call' || params?.name !== TOOL.name) return method === 'ping' ? {} : undefined;
    calls.push(params.arguments);
    return { content: [{ type: 'text', text: 'It is noon there.' }] };
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${key}`) return void response.writeHead(401).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const call = JSON.parse(await text(request)) as McpRequest;
    if (call.id === undefined) return void response.writeHead(202).end();
    const result = outcomeOf(call);
    const outcome = result ? { result } : { error: { code: -32601, message: 'there is no such method' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...outcome }));
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-03-26' };
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  create_pr: ['repo_name', 'source_branch', 'target_branch', 'title', 'body', 'draft', 'labels'],
  create_mr: ['id', 'source_branch', 'target_branch', 'title', 'description', 'labels'],
  create_bitbucket_pr: ['repo_name', 'source_branch', 'target_branch', 'title', 'description'],
};
/** Nobody has it, with any token. */
const NOWHERE = {
  repo_name: 'tendon-conformance-nobody/tendon-conformance-nothing',
  source_branch: 'none',
  target_branch: 'main',
  title: 'x',
  body: null,
};

async function send(target: Target, message: object): Promise<Answer> {
  return target.ask('POST', '/mcp/mcp', { body: { jsonrpc: '2.0', ...message }, headers: HEADERS });
}

/** What is answered, as one document or as an event of a stream. */
async function resultOf(target: Target, method: string, params: object): Promise<ServerJson> {
  const answer = await send(target, { id: 7, method, params });
  hasStatus(answer, 200);
  const data = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text;
  const parsed = JSON.parse(data) as ServerJson;
  assert.equal(parsed.id as unknown, 7);
  assert.ok(parsed.result, data.slice(0, 300));
  return parsed.result;
}
