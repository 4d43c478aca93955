/** An MCP server as the official library makes one, over HTTP and SSE, that asks for a key. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** Its address: `/mcp` for HTTP, `/sse` for SSE. Tools: `zone` returns the time in a city, `fail` fails. */
export async function clockServer(key: string): Promise<string> {
  const streams = new Map<string, SSEServerTransport>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers.authorization !== `Bearer ${key}`) return void response.writeHead(401).end();
    const url = new URL(request.url!, 'http://clocks');
    if (url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      streams.set(transport.sessionId, transport);
      return clocks().connect(transport);
    }
    if (url.pathname === '/messages') return streams.get(url.searchParams.get('sessionId')!)!.handlePostMessage(request, response);
    const transport = new StreamableHTTPServerTransport({});
    await clocks().connect(transport as Transport);
    return transport.handleRequest(request, response);
  };
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function clocks(): McpServer {
  const server = new McpServer({ name: 'clocks', version: '1.0.0' });
  server.registerTool('zone', { description: 'The time there.', inputSchema: { city: z.string() } }, ({ city }) => ({
    content: [{ type: 'text', text: `noon in ${city}` }],
  }));
  server.registerTool('fail', { description: 'Fails.' }, () => {
    throw new Error('no clock is there');
  });
  return server;
}
