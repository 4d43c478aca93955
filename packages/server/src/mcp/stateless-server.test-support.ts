/** An MCP server that speaks 2026-07-28 and nothing older, strict about what every request must say: over HTTP, and as a program. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { readLines } from '@tendon/protocol/node';
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

interface ChangingTools {
  /** Once the server is listened to: it has one tool more, and announces it. */
  addTool(): Promise<void>;
  readonly isListenedTo: Promise<void>;
}

export interface StatelessServer extends ChangingTools {
  readonly url: string;
  readonly methods: readonly string[];
  readonly refusals: readonly string[];
}

export async function statelessServer(): Promise<StatelessServer> {
  const [methods, refusals, ids]: [string[], string[], string[]] = [[], [], []];
  const listeners = new Listeners();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = (await json(request)) as Message;
    methods.push(message.method);
    const problem = ids.includes(message.id) ? 'the same id twice' : problemOf(request, message);
    ids.push(message.id);
    if (problem !== undefined) {
      refusals.push(problem);
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refused(message, problem)));
    }
    if (message.method === 'subscriptions/listen')
      return void listeners.listen(message, (word) => {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(word)}\n\n`);
      });
    // One of them as a stream, with a word before the answer.
    if (message.method !== 'tools/call') return void send(response, 'application/json', JSON.stringify(answered(message, listeners.tools)));
    const word = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
    send(
      response,
      'text/event-stream',
      [word, answered(message, listeners.tools)].map((each) => `event: message\r\ndata: ${JSON.stringify(each)}\r\n\r\n`).join(''),
    );
  };
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, methods, refusals, ...listeners.control };
}

/** The same as a program of a sandbox: its first line says what to start, the others are its input. */
export function statelessProgram(): ChangingTools & { readonly openProcess: () => Promise<Duplex>; readonly methods: readonly string[] } {
  const [methods, listeners] = [[] as string[], new Listeners()];
  const run = async (input: Duplex): Promise<void> => {
    const say = (message: object): void => void input.write(`${JSON.stringify(message)}\n`);
    let isStarted = false;
    for await (const line of readLines(input, { maxLine: 65_536, maxTotal: 1_000_000 })) {
      const message = JSON.parse(line) as Message;
      if (!isStarted) isStarted = true;
      else {
        methods.push(message.method);
        if (message.method === 'subscriptions/listen') listeners.listen(message, say);
        else say(isOfVersion(message) ? answered(message, listeners.tools) : refused(message, 'another version'));
      }
    }
  };
  const openProcess = (): Promise<Duplex> => {
    const [ours, theirs] = duplexPair();
    void run(theirs);
    return Promise.resolve(ours);
  };
  return { openProcess, methods, ...listeners.control };
}

class Listeners {
  tools: readonly object[] = TOOLS;
  readonly #listened = Promise.withResolvers<void>();
  #say: ((message: object) => void) | undefined;

  get control(): ChangingTools {
    return {
      isListenedTo: this.#listened.promise,
      addTool: async () => {
        await this.#listened.promise;
        this.tools = [...TOOLS, { name: 'cancel', inputSchema: { type: 'object' } }];
        this.#say!({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} });
      },
    };
  }

  listen({ params }: Message, say: (message: object) => void): void {
    this.#say = say;
    say({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications: params.notifications } });
    this.#listened.resolve();
  }
}

function isOfVersion({ params }: Message): boolean {
  return params?._meta?.['io.modelcontextprotocol/protocolVersion'] === VERSION;
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

function answered({ id, method, params }: Message, tools: readonly object[]): object {
  return { jsonrpc: '2.0', id, result: method === 'tools/list' ? { ...LISTED, tools } : resultOf(method, params) };
}

const LISTED = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;

function resultOf(method: string, params: Message['params']): object {
  if (method === 'server/discover') {
    return {
      resultType: 'complete',
      supportedVersions: [VERSION],
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'travel', version: '1' },
    };
  }
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
