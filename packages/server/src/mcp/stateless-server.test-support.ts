/** An MCP server that speaks 2026-07-28 and nothing older, strict about what every request must say. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** What it asks the user. */
export const FORM = {
  mode: 'form',
  message: 'Where to?',
  requestedSchema: { type: 'object', properties: { city: { type: 'string', enum: ['Rome', 'Oslo'] } }, required: ['city'] },
} as const;

interface Message {
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> & { readonly _meta?: Readonly<Record<string, unknown>> };
}

const VERSION = '2026-07-28';
const TOOLS = [
  {
    name: 'book',
    inputSchema: { type: 'object', properties: { class: { type: 'string', 'x-mcp-header': 'Class' }, seats: { type: 'integer' } } },
  },
  { name: 'unfit', inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'not a name' } } } },
];

export interface StatelessServer {
  readonly url: string;
  readonly methods: readonly string[];
  readonly refusals: readonly string[];
}

export async function statelessServer(): Promise<StatelessServer> {
  const [methods, refusals, ids]: [string[], string[], string[]] = [[], [], []];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = (await json(request)) as Message;
    methods.push(message.method);
    const problem = ids.includes(message.id) ? 'the same id twice' : problemOf(request, message);
    ids.push(message.id);
    if (problem !== undefined) {
      refusals.push(problem);
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refused(message, problem)));
    }
    // One of them as a stream, with a word before the answer.
    if (message.method !== 'tools/call') return void send(response, 'application/json', JSON.stringify(answered(message)));
    const word = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
    send(
      response,
      'text/event-stream',
      [word, answered(message)].map((each) => `event: message\r\ndata: ${JSON.stringify(each)}\r\n\r\n`).join(''),
    );
  };
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, methods, refusals };
}

function problemOf({ method, headers }: IncomingMessage, message: Message): string | undefined {
  const { params, method: asked } = message;
  const { _meta: meta = {} } = params ?? {};
  if (method !== 'POST') return 'no POST';
  if (headers['mcp-protocol-version'] !== VERSION || meta['io.modelcontextprotocol/protocolVersion'] !== VERSION) return 'another version';
  if (typeof meta['io.modelcontextprotocol/clientCapabilities'] !== 'object') return 'no capabilities';
  if (headers['mcp-method'] !== asked) return 'another method in the header';
  if (!/application\/json.*text\/event-stream/.test(headers.accept ?? '')) return 'takes no streams';
  if (asked !== 'tools/call') return undefined;
  if (headers['mcp-name'] !== params.name) return 'another name in the header';
  const wanted = `=?base64?${Buffer.from(String((params.arguments as { class?: string }).class)).toString('base64')}?=`;
  return headers['mcp-param-class'] === wanted ? undefined : 'another argument in the header';
}

function refused({ id }: Message, message: string): object {
  return { jsonrpc: '2.0', id, error: { code: -32_020, message } };
}

function answered({ id, method, params }: Message): object {
  return { jsonrpc: '2.0', id, result: resultOf(method, params) };
}

function resultOf(method: string, params: Message['params']): object {
  if (method === 'server/discover') {
    return {
      resultType: 'complete',
      supportedVersions: [VERSION],
      capabilities: { tools: {} },
      serverInfo: { name: 'travel', version: '1' },
    };
  }
  if (method === 'tools/list') return { resultType: 'complete', tools: TOOLS, ttlMs: 0, cacheScope: 'private' };
  const { where } = (params.inputResponses ?? {}) as { readonly where?: unknown };
  if (where === undefined) {
    const inputRequests = { where: { method: 'elicitation/create', params: FORM } };
    return { resultType: 'input_required', inputRequests, requestState: 'opaque' };
  }
  return { resultType: 'complete', content: [{ type: 'text', text: `booked ${JSON.stringify(where)} ${String(params.requestState)}` }] };
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}
