import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Answering = (request: IncomingMessage, response: ServerResponse, server: Server) => void;

/** A server that is no agent server, or a bad one; gone when the test ends. Its address. */
export async function oddServer(answer: Answering): Promise<string> {
  const server = createServer((request, response) => answer(request, response, server));
  onTestFinished(() => void (server.close(), server.closeAllConnections()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An address at which nothing listens. */
export async function deadAddress(): Promise<string> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
