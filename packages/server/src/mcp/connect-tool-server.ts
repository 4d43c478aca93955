import type { Duplex } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { VERSION } from '../version.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { ListedTool } from './offered-tool.ts';
import { ProcessTransport } from './process-transport.ts';
import type { ToolServer } from './tool-server.ts';

export interface ToolConnection {
  readonly tools: readonly ListedTool[];
  /** Rejects with an Error that can be shown. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: { readonly signal: AbortSignal }): Promise<Record<string, unknown>>;
  /** Called once, when the other side ends it. */
  onEnd(listener: () => void): void;
  close(): Promise<void>;
}

export interface ConnectOptions {
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

const ANSWER_MS = 20_000;
const MAX_TOOLS = 64;
const MAX_PAGES = 8;

/** Says hello and asks what there is. The client library is loaded by the first one. Rejects with an Error that can be shown. */
export async function connectToolServer(server: ToolServer, { signal, openProcess, onTools }: ConnectOptions): Promise<ToolConnection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const transport = await transportOf(server, openProcess);
  const client = new Client({ name: 'tendon', version: VERSION }, { jsonSchemaValidator: ANY_RESULT });
  try {
    await Promise.race([client.connect(transport, { signal, timeout: ANSWER_MS }), givenUp(signal)]);
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      await listTools(client).then(onTools, () => undefined);
    });
    return connection(client, transport, server, await listTools(client));
  } catch (cause) {
    await client.close().catch(() => undefined);
    throw new Error(wordsFor(cause, transport), { cause });
  }
}

function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function connection(client: Client, transport: Transport, { callMs }: ToolServer, tools: readonly ListedTool[]): ToolConnection {
  return {
    tools,
    call: (name, args, { signal }) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { signal, timeout: callMs }).catch((cause: unknown) => {
        throw new Error(wordsFor(cause, transport), { cause });
      }),
    onEnd(listener) {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
      client.onclose = listener;
    },
    close: () => client.close(),
  };
}

async function listTools(client: Client): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: ANSWER_MS });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

async function transportOf(server: ToolServer, openProcess: () => Promise<Duplex>): Promise<Transport> {
  if (server.kind === 'stdio') return new ProcessTransport(openProcess, { command: server.command, args: server.args, env: server.env });
  const url = URL.parse(server.url);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${server.url.slice(0, 200)} is not an http address`);
  const requestInit = server.apiKey === undefined ? {} : { headers: { authorization: `Bearer ${server.apiKey}` } };
  const options = { requestInit, fetch: boundedFetch };
  // Its optional members are written for compilers that take `undefined` for absent.
  if (server.kind === 'http') {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return new StreamableHTTPClientTransport(url, options) as Transport;
  }
  const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
  return new SSEClientTransport(url, options) as Transport;
}

/** A program that ended says why better than the library, which only saw the connection close. */
function wordsFor(cause: unknown, transport: Transport): string {
  if (transport instanceof ProcessTransport && transport.ended !== undefined) return transport.ended;
  const { message, cause: inner } = cause as Error;
  return inner instanceof Error && message === 'fetch failed' ? `${message}: ${inner.message}` : message;
}
