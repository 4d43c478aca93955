import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { findLocalEndpoints } from './local-endpoints.ts';

async function listen(answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { name: 'Test', port, prefix: 'ollama', [Symbol.asyncDispose]: close };
}

it('LM44: what answers with a list of models is offered, everything else is passed over', async () => {
  await using models = await listen((_request, response) => response.end(JSON.stringify({ data: [{ id: 'qwen3:8b' }, { id: 5 }, null] })));
  await using website = await listen((_request, response) => response.end('<html>'));
  await using refusing = await listen((_request, response) => response.writeHead(401).end('{"data":[]}'));
  const abort = new AbortController();
  await using hanging = await listen(() => abort.abort());
  const gone = await listen(() => undefined);
  await gone[Symbol.asyncDispose]();
  const found = await findLocalEndpoints({ fetch, signal: AbortSignal.timeout(10_000), known: [models, website, refusing, gone] });
  expect(found).toEqual([{ name: 'Test', baseUrl: `http://127.0.0.1:${models.port}/v1`, models: ['ollama/qwen3:8b'] }]);
  expect(await findLocalEndpoints({ fetch, signal: abort.signal, known: [hanging] })).toEqual([]);
});
