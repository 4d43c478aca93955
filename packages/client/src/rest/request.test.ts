import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, createRest } from '../index.ts';

let server: Server;
let baseUrl: string;
const seen: { method: string; url: string; key: string | undefined; request: string | undefined; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      seen.push({
        method: request.method!,
        url: request.url!,
        key: request.headers['x-session-api-key'] as string | undefined,
        request: request.headers['idempotency-key'] as string | undefined,
        body,
      });
      if (request.url === '/api/settings') return response.writeHead(404).end('{"error":"Settings not found"}');
      if (request.url === '/api/options/models') return response.writeHead(401).end('{"detail":"Unauthorized"}');
      if (request.url === '/api/options/agents') return undefined;
      if (request.url === '/api/secrets')
        return response.writeHead(422).end('{"detail":[{"type":"x","loc":["body","name"],"msg":"a name has letters"}]}');
      return response.setHeader('content-type', 'application/json').end('{"results":[],"next_page_id":null}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('REST', () => {
  it('sends the key of the moment, and the query', async () => {
    let key = 'first';
    const rest = createRest({ baseUrl: `${baseUrl}/`, apiKey: () => key });
    await rest.conversations.list({ limit: 7 });
    key = 'second';
    await rest.conversations.list();
    expect(seen.slice(-2)).toMatchObject([
      { url: '/api/conversations?limit=7', key: 'first' },
      { url: '/api/conversations?limit=100', key: 'second' },
    ]);
  });

  it('CL970: a file comes as its bytes, also when it looks like JSON', async () => {
    const file = await createRest({ baseUrl }).files.download('c 1', 'a b.json');
    expect([file.size > 0, seen.at(-1)?.url]).toEqual([true, '/api/conversations/c%201/files/download?path=a+b.json']);
  });

  it('CL53: identifies a request that may be repeated', async () => {
    const rest = createRest({ baseUrl });
    await rest.conversations.create({ initial_user_msg: 'build it' }, { idempotencyKey: 'k-1' });
    await rest.conversations.create();
    expect(seen.slice(-2)).toMatchObject([
      { method: 'POST', request: 'k-1' },
      { method: 'POST', request: undefined },
    ]);
  });

  it('has null for settings that nobody stored', async () => {
    expect(await createRest({ baseUrl }).settings.get()).toBeNull();
  });

  it('rejects with the words of the server', async () => {
    await expect(createRest({ baseUrl }).options.models()).rejects.toMatchObject({ status: 401, message: 'Unauthorized' });
    const misfit = createRest({ baseUrl }).secrets.create({ name: '1', value: 'x' });
    await expect(misfit).rejects.toMatchObject({ status: 422, message: 'name: a name has letters' });
  });

  it('rejects with status 0 when there is no answer in time, or nobody there', async () => {
    await expect(createRest({ baseUrl, timeoutMs: 30 }).options.agents()).rejects.toMatchObject({ status: 0 });
    await expect(createRest({ baseUrl: 'http://127.0.0.1:1' }).options.agents()).rejects.toBeInstanceOf(ApiError);
  });

  it('rejects with the reason of the caller who aborted', async () => {
    const reason = new Error('left the page');
    await expect(createRest({ baseUrl }).conversations.get('x', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
