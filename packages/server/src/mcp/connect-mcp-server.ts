import type { Duplex } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { abortable } from '@tendon/protocol/async';
import { z } from 'zod';
import { VERSION } from '../platform/version.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { CallTimer } from './call-timer.ts';
import { CAPABILITIES, type ElicitationAnswer } from './elicitation.ts';
import type { ListedTool } from './offered-tool.ts';
import type { McpServer, RemoteMcpServer } from './mcp-server.ts';
import { httpExchange } from './http-exchange.ts';
import { processExchange, ProcessTransport } from './process-transport.ts';
import { StatelessConnection } from './stateless-connection.ts';

export interface ToolConnection {
  readonly tools: readonly ListedTool[];
  /** Rejects with a user-facing error. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Called once, when the other side ends it. */
  onEnd(listener: () => void): void;
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** For what the server asks of a person; the time that takes does not count. */
  readonly elicit: (params: unknown) => Promise<ElicitationAnswer>;
}

export interface ConnectOptions {
  /** For an address. Default: this process's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the attempt; its reason can be shown. */
  readonly signal: AbortSignal;
  /** A connection to a program in the sandbox, which is started when it must be: that may take longer than the attempt. */
  readonly openProcess: () => Promise<Duplex>;
  /** The server has other tools now. */
  readonly onTools: (tools: readonly ListedTool[]) => void;
}

/**
 * A tool's `outputSchema` comes from a program of the agent or from a stranger: one regular expression in it would hold this process
 * for ever. The model reads the result as text, so nothing is compiled and nothing is checked.
 */
const ANY_RESULT: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * The library's schemas name every fault of an answer: a megabyte of wrong blocks is hundreds of megabytes of faults, and seconds. So
 * answers are taken as any object, and what is used of them is looked at here, piece by piece.
 */
const AnyAnswer = z.looseObject({});
const AnyElicitation = z.object({ method: z.literal('elicitation/create'), params: z.unknown().optional() });
const ListAnswer = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const Listed = z.object({
  name: z.string(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});

const ANSWER_MS = 20_000;
/** For the answer to the first question. A program may have to be fetched and built before it reads. */
const DISCOVER_MS = 5_000;
const DISCOVER_PROCESS_MS = 10_000;
/** The library must have one; ours does not count what a person takes. */
const MAX_TIMEOUT_MS = 2 * 60 * 60_000;
const MAX_TOOLS = 64;
const MAX_PAGES = 8;
const MAX_WORDS = 1_000;

/** Says hello and asks what there is. The client library is loaded by the first one. Rejects with a user-facing error. */
export async function connectMcpServer(server: McpServer, options: ConnectOptions): Promise<ToolConnection> {
  const { signal, onTools } = options;
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const first = await transportOf(server, options);
  const stateless = await statelessConnection(server, first, options);
  if (stateless) return stateless;
  // Some programs end at a question that they do not know.
  const transport = first instanceof ProcessTransport && first.closed.aborted ? await transportOf(server, options) : first;
  const client = new Client({ name: 'tendon', version: VERSION }, { jsonSchemaValidator: ANY_RESULT, capabilities: CAPABILITIES });
  const { Protocol } = await import('@modelcontextprotocol/sdk/shared/protocol.js');
  takeAnyAnswer(client);
  const asking: CallOptions['elicit'][] = [];
  // Past the client's own, which compiles the server's schema. What is asked in the middle of no call is nobody's to answer.
  const answer = async ({ params }: z.output<typeof AnyElicitation>): Promise<Record<string, unknown>> => ({
    ...((await asking.at(-1)?.(params)) ?? { action: 'decline' }),
  });
  Protocol.prototype.setRequestHandler.call(client, AnyElicitation, answer as never);
  const list = oneAtATime(() => listTools(requestOf(client)).then(onTools, () => undefined));
  try {
    await abortable(client.connect(transport, { signal, timeout: ANSWER_MS }), signal);
    client.setNotificationHandler(ToolListChangedNotificationSchema, list);
    return toolConnection(client, { transport, asking, callMs: server.callMs }, await listTools(requestOf(client)));
  } catch (cause) {
    await client.close().catch(() => undefined);
    throw new Error(wordsFor(cause, transport), { cause });
  }
}

/** Also of the requests that the library makes by itself. */
function takeAnyAnswer(client: Client): void {
  const request = client.request.bind(client) as (...args: Parameters<Client['request']>) => Promise<unknown>;
  client.request = ((message, _schema, options) => request(message, AnyAnswer, options)) as Client['request'];
}

/** However often a server reports that its tools have changed: they are listed, and once more if it reported so meanwhile. */
function oneAtATime(list: () => Promise<void>): () => void {
  let state: 'idle' | 'listing' | 'again' = 'idle';
  const begin = (): void => {
    if (state !== 'idle') return void (state = 'again');
    state = 'listing';
    void list().finally(() => {
      const isOutdated = state === 'again';
      state = 'idle';
      if (isOutdated) begin();
    });
  };
  return begin;
}

interface ConnectedBy {
  readonly transport: Transport;
  /** Of the calls that are under way, the newest last. */
  readonly asking: CallOptions['elicit'][];
  readonly callMs: number;
}

function toolConnection(client: Client, { transport, asking, callMs }: ConnectedBy, tools: readonly ListedTool[]): ToolConnection {
  return {
    tools,
    async call(name, args, { signal, elicit }) {
      const timer = new CallTimer(callMs);
      const ask: CallOptions['elicit'] = (params) => timer.without(elicit(params));
      asking.push(ask);
      try {
        const options = { signal: AbortSignal.any([signal, timer.signal]), timeout: MAX_TIMEOUT_MS };
        return await client.callTool({ name, arguments: { ...args } }, undefined, options);
      } catch (cause) {
        throw new Error(timer.signal.aborted ? timer.words : wordsFor(cause, transport), { cause });
      } finally {
        timer.end();
        asking.splice(asking.indexOf(ask), 1);
      }
    },
    onEnd(listener) {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
      client.onclose = listener;
    },
    close: () => client.close(),
  };
}

type Request = (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;

function requestOf(client: Client): Request {
  return (method, params) => client.request({ method, params } as Parameters<Client['request']>[0], AnyAnswer, { timeout: ANSWER_MS });
}

/** Nothing where it does not speak the version without a handshake. A program goes on with the handshake then. */
async function statelessConnection(
  server: McpServer,
  transport: Transport,
  { fetch: send = fetch, signal, onTools }: ConnectOptions,
): Promise<ToolConnection | undefined> {
  if (server.kind === 'sse') return undefined;
  const process = transport instanceof ProcessTransport ? transport : undefined;
  const exchange =
    server.kind === 'http'
      ? httpExchange({ url: server.url, headers: keyHeaders(server), fetch: boundedFetch(send) })
      : processExchange(process!);
  await process?.start();
  const connection = await StatelessConnection.open(exchange, { signal, timeoutMs: process ? DISCOVER_PROCESS_MS : DISCOVER_MS });
  if (!connection) return undefined;
  const ended = new AbortController();
  const list = async (until: AbortSignal): Promise<readonly ListedTool[]> =>
    connection.offered(await listTools((method, params) => connection.request(method, params, { signal: until, timeoutMs: ANSWER_MS })));
  const tools = await list(signal).catch(async (cause: unknown) => {
    await process?.close();
    throw new Error(wordsFor(cause, transport), { cause });
  });
  const listAgain = oneAtATime(() => list(ended.signal).then(onTools, () => undefined));
  void connection.listen(listAgain, ended.signal);
  process?.closed.addEventListener('abort', () => ended.abort());
  return {
    tools,
    call: (name, args, options) => connection.call(name, args, { ...options, timeoutMs: server.callMs }),
    onEnd: (listener) => process?.closed.addEventListener('abort', listener),
    close: async () => {
      ended.abort();
      await process?.close();
    },
  };
}

async function listTools(request: Request): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = ListAnswer.parse(await request('tools/list', params));
    tools.push(...listed.tools.slice(0, MAX_TOOLS).flatMap((tool) => Listed.safeParse(tool).data ?? []));
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

function keyHeaders({ apiKey }: RemoteMcpServer): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

async function transportOf(server: McpServer, { openProcess, fetch: send = fetch }: ConnectOptions): Promise<Transport> {
  if (server.kind === 'stdio') return new ProcessTransport(openProcess, { command: server.command, args: server.args, env: server.env });
  const url = URL.parse(server.url);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${server.url.slice(0, 200)} is not an http address`);
  const options = { requestInit: { headers: keyHeaders(server) }, fetch: boundedFetch(send) };
  // Its optional members are written for compilers that take `undefined` for absent.
  if (server.kind === 'http') {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return new StreamableHTTPClientTransport(url, options) as Transport;
  }
  const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
  return new SSEClientTransport(url, options) as Transport;
}

/** A program that ended says why better than the library, which only saw the connection close. Nothing of an answer is quoted. */
function wordsFor(cause: unknown, transport: Transport): string {
  if (transport instanceof ProcessTransport && transport.ended !== undefined) return transport.ended;
  if (cause instanceof SyntaxError) return 'what it answered is not JSON';
  const { message, cause: inner, code } = cause as Error & { readonly code?: unknown };
  if (inner instanceof Error && message === 'fetch failed') return `${message}: ${inner.message}`.slice(0, MAX_WORDS);
  const status = /Error POSTing to endpoint/.test(message) ? (/\(HTTP (\d+)\)/.exec(message)?.[1] ?? code) : undefined;
  return status === undefined ? message.slice(0, MAX_WORDS) : `it answered with the status ${String(status)}`;
}
