import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { itInFull, someOf } from '@tendon/testing';
import { type TendonProcess, Watcher } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startModelEndpoint } from '../../../packages/core/src/llm/contract/model-endpoint.ts';
import { folderOf, NEWCOMERS, serverOf } from './newcomers.ts';

const KEY = 'sk-newcomer-12345678';

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy that tunnels `host` to `target`, refuses everything else, and remembers whom it was asked for. */
async function startProxy(host: string, target: string): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((_request, response) => response.writeHead(502).end());
  server.on('connect', ({ url = '' }, client: Socket) => {
    asked.push(url);
    if (url !== `${host}:80`) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const { hostname, port } = new URL(target);
    const upstream = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    upstream.pipe(client).pipe(upstream);
    for (const socket of [upstream, client]) socket.on('error', () => [upstream, client].forEach((each) => each.destroy()));
  });
  return { url: await listening(server), asked };
}

async function sayHello(server: TendonProcess): Promise<Watcher> {
  const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(server.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send('message', { content: 'hello' });
  return watcher;
}

describe.each(someOf(NEWCOMERS, NEWCOMERS.slice(-1)))('the model of a newcomer who is $name', (newcomer) => {
  it('SV241: is reached through the proxy of the machine, as git hosts and MCP servers are', async () => {
    await using endpoint = await startModelEndpoint('openai', [{ text: ['Hello through the proxy.'] }]);
    const proxy = await startProxy('model.example', endpoint.url);
    const server = await serverOf(newcomer, {
      WORKSPACE_BASE: folderOf(newcomer),
      https_proxy: proxy.url,
      LLM_MODEL: 'openai/gpt-4o',
      LLM_API_KEY: KEY,
      LLM_BASE_URL: 'http://model.example/v1',
      MCP_CONFIG: JSON.stringify({ shttp_servers: [{ url: 'http://mcp.example/mcp' }] }),
    });
    const watcher = await sayHello(server);
    await watcher.until(
      ({ action, source, args }) => action === 'message' && source === 'agent' && args?.content === 'Hello through the proxy.',
    );
    await server
      .json('/api/add-git-providers', { provider_tokens: { gitlab: { token: 'glpat-12345678', host: 'git.example' } } })
      .catch(() => 0);
    expect(new Set(proxy.asked)).toEqual(new Set(['model.example:80', 'mcp.example:80', 'git.example:443']));
  });

  itInFull('SV241: is asked directly when it is on this machine, whatever the proxy', async () => {
    await using endpoint = await startModelEndpoint('openai', [{ text: ['Hello from this machine.'] }]);
    const proxy = await startProxy('nobody.example', endpoint.url);
    const server = await serverOf(newcomer, {
      HTTPS_PROXY: proxy.url,
      LLM_MODEL: 'openai/local',
      LLM_API_KEY: KEY,
      LLM_BASE_URL: endpoint.url,
    });
    const watcher = await sayHello(server);
    await watcher.until(({ action, args }) => action === 'message' && args?.content === 'Hello from this machine.');
    expect(proxy.asked).toEqual([]);
  });

  itInFull('LM120: at an address that serves web pages fails at once, after one request', async () => {
    let requests = 0;
    const page = createServer((_request, response) => {
      requests++;
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Models</title>');
    });
    const server = await serverOf(newcomer, { LLM_MODEL: 'openai/local', LLM_API_KEY: KEY, LLM_BASE_URL: await listening(page) });
    const watcher = await sayHello(server);
    const { content } = await watcher.untilState('error');
    expect(content).toMatch(/answered with a web page\. Check LLM_BASE_URL/);
    expect(watcher.events.filter(({ extras }) => extras?.agent_state === 'rate_limited')).toEqual([]);
    expect(requests).toBe(1);
  });
});
