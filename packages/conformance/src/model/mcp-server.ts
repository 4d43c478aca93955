import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ToolServer {
  /** Of the Model Context Protocol over HTTP. */
  readonly url: string;
  /** Arguments of the calls that came with the key, in order. */
  readonly calls: readonly unknown[];
  close(): void;
}

interface Asked {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string; readonly arguments?: unknown };
}

const TOOL = {
  name: 'tell_zone',
  description: 'Tells what the time is in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** A server of one tool, `tell_zone`, that asks for a key. On loopback, like the model: the server under test must be on this machine. */
export async function startToolServer(key: string): Promise<ToolServer> {
  const calls: unknown[] = [];
  const resultOf = ({ method, params }: Asked): object | undefined => {
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
    const asked = JSON.parse(await text(request)) as Asked;
    if (asked.id === undefined) return void response.writeHead(202).end();
    const result = resultOf(asked);
    const said = result ? { result } : { error: { code: -32601, message: 'there is no such method' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...said }));
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
