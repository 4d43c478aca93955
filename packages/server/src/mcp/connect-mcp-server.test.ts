import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectMcpServer } from './connect-mcp-server.ts';

const BODY = 'INTERNAL-SERVICE-SECRET-BODY token=abcdef';

async function service(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function wordsOf(kind: 'http' | 'sse', answer: RequestListener): Promise<string> {
  const server = { name: 'x', kind, url: await service(answer), callMs: 1000 };
  const options = { signal: AbortSignal.timeout(20_000), openProcess: () => Promise.reject(new Error('none')), onTools: () => undefined };
  return connectMcpServer(server, options).then(
    () => 'connected',
    (error: Error) => error.message,
  );
}

const ANSWERS: readonly (readonly [string, RequestListener])[] = [
  ...[400, 401, 403, 404, 500].map((status): readonly [string, RequestListener] => [
    `${status}`,
    (_, response) => void response.writeHead(status).end(BODY),
  ]),
  ['no JSON', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(BODY)],
  ['other JSON', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ key: BODY }))],
  ['text', (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(BODY)],
];

it.each(ANSWERS)('SV350: an answer (%s) that is no MCP server’s is not quoted', async (_what, answer) => {
  for (const kind of ['http', 'sse'] as const) {
    const words = await wordsOf(kind, answer);
    expect(words).not.toBe('connected');
    for (const part of ['INTERNAL', 'SECRET', 'abcdef']) expect(words).not.toContain(part);
  }
});

it('SV350: the status is reported', async () => {
  expect(await wordsOf('http', (_, response) => void response.writeHead(403).end(BODY))).toBe('it answered with the status 403');
});
