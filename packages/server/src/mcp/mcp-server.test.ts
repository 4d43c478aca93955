import { Secret } from '@tendon/protocol/masking';
import { McpConfig } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { boundedFetch } from './bounded-fetch.ts';
import { usualMcpServers, withSearch } from './conversation-tools.ts';
import { keysOfMcp, maskedMcp, withStoredKeys } from '../settings/mcp-keys.ts';
import { offeredName, offeredTool } from './offered-tool.ts';
import { resultPictures, resultText } from './tool-result.ts';
import { mcpServers } from './mcp-server.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const CONFIG = McpConfig.parse({
  sse_servers: ['https://mcp.example.com/sse', { url: 'http://localhost:1/sse', api_key: 'key-of-the-first' }],
  shttp_servers: [{ url: 'https://example.com/mcp', timeout: 5 }],
  stdio_servers: [{ name: 'my notes!', command: 'notes', env: { NOTES_TOKEN: 'token-of-notes', MODE: 'production' } }],
});

it('SV136: servers have names of their own, and those of HTTP the time that is set', () => {
  expect(mcpServers(CONFIG).map(({ name, kind, callMs }) => [name, kind, callMs])).toEqual([
    ['my_notes', 'stdio', 300_000],
    ['example', 'http', 5_000],
    ['example2', 'sse', 60_000],
    ['localhost', 'sse', 60_000],
  ]);
  expect(mcpServers(McpConfig.parse({ sse_servers: Array.from({ length: 50 }, () => 'not a url') }))).toHaveLength(16);
});

it('SV136: tools have names that models can say, and no schema that is too large', () => {
  expect(offeredName('fetch', 'fetch')).toBe('fetch_fetch');
  expect(offeredName('my notes', 'add/all ü'.padEnd(90, 'x'))).toMatch(/^my_notes_add_all__x+$/);
  const tool = offeredTool('a_b', { name: 'b', inputSchema: { $schema: 'x', type: 'object' } });
  expect(tool?.spec).toEqual({ name: 'a_b', description: '', parameters: { type: 'object', properties: {} } });
  expect(tool?.toAction({ x: 1 })).toMatchObject({
    ok: true,
    action: { action: 'call_tool_mcp', args: { name: 'a_b', arguments: { x: 1 } } },
  });
  expect(offeredTool('a_b', { name: 'b', inputSchema: { description: 'x'.repeat(20_000) } })).toBeUndefined();
});

describe('SV138: keys of servers', () => {
  it('are never shown, and stand where their mask comes back', () => {
    const shown = maskedMcp(CONFIG);
    expect(JSON.stringify(shown)).not.toMatch(/key-of-the-first|token-of-notes/);
    expect(shown.stdio_servers[0]!.env).toEqual({ NOTES_TOKEN: '**********', MODE: 'production' });
    expect(withStoredKeys(shown, CONFIG)).toEqual(CONFIG);
    expect(keysOfMcp(CONFIG)).toEqual(['key-of-the-first', 'token-of-notes']);
  });

  it('are not sent to another address or program', () => {
    const shown = maskedMcp(CONFIG);
    const moved = {
      sse_servers: [{ url: 'https://evil.example/sse', api_key: '**********' }],
      shttp_servers: [],
      stdio_servers: [{ ...shown.stdio_servers[0]!, command: 'env' }],
    };
    expect(keysOfMcp(withStoredKeys(moved, CONFIG)).join('')).toBe('');
  });
});

it('SV167: the key for searching the web brings the MCP server it is for, once', () => {
  const key = new Secret('tvly-0123456789');
  const searching = withSearch(CONFIG, key);
  expect(mcpServers(searching).find(({ name }) => name === 'tavily')).toEqual({
    name: 'tavily',
    kind: 'http',
    url: 'https://mcp.tavily.com/mcp/',
    apiKey: key.reveal(),
    callMs: 60_000,
  });
  expect(withSearch(searching, key)).toEqual(searching);
  expect(withSearch(CONFIG, new Secret('of-somebody-else'))).toEqual(CONFIG);
  expect(withSearch(CONFIG, undefined)).toEqual(CONFIG);
});

it('SV168: servers of the configuration come first, and one that is named twice is asked once', () => {
  const settings = McpConfig.parse({
    shttp_servers: ['https://example.com/mcp', 'https://other.example/mcp'],
    stdio_servers: [{ name: 'again', command: 'notes' }],
  });
  const joined = (configured: McpConfig | undefined, plugins: readonly McpConfig[] = []) =>
    usualMcpServers({
      config: { mcpServers: configured },
      settings: { mcpServers: settings },
      plugins: plugins.map((mcp) => ({ mcpServers: mcp })),
    });
  expect(joined(undefined)).toEqual(settings);
  expect(joined(settings, [settings])).toEqual(settings);
  expect(mcpServers(joined(CONFIG)).map(({ name }) => name)).toEqual(['my_notes', 'example', 'other', 'example2', 'localhost']);
});

it('SV137: a result is given as text, what is none by what it is, and a failure as one', () => {
  const content = [
    { type: 'text', text: 'one' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'two' } },
    { type: 'resource_link', name: 'a', uri: 'file:///a' },
    { type: 'later' },
  ];
  expect(resultText({ content })).toBe('one\n\n[image, image/png, 3 bytes]\n\ntwo\n\n[a: file:///a]');
  expect(resultText({ content: [], structuredContent: { a: 1 } })).toBe('{"a":1}');
  expect(resultText({ content: [{ type: 'text', text: 'no such note' }], isError: true })).toBe('The tool failed: no such note');
  expect(resultText({ content: [{ type: 'text', text: 'x'.repeat(2_000_000) }] }).length).toBeLessThan(1_000_100);
});

it('EN807: pictures of a result are data URLs, those that a model can be shown', () => {
  const picture = (mimeType: unknown, data: unknown) => ({ type: 'image', mimeType, data });
  const wrong = [picture('image/svg+xml', 'AAAA'), picture('image/png', 'no base64!'), picture('image/png', 7), picture('image/png', '')];
  const large = picture('image/png', 'A'.repeat(6 * 1024 * 1024));
  const content = [null, ...wrong, large, picture('image/png', 'AAAA'), picture('image/jpeg', 'AAA='), { type: 'audio' }];
  expect(resultPictures({ content })).toEqual(['data:image/png;base64,AAAA', 'data:image/jpeg;base64,AAA=']);
  expect(resultPictures({ content: Array.from({ length: 20 }, () => picture('image/png', 'AAAA')) })).toHaveLength(8);
  expect(resultPictures({ content: 'none' })).toEqual([]);
  expect(resultText({ content })).toContain('[image, image/png, 3 bytes]');
});

it('SV137: an answer without end is cut off', async () => {
  const http = createServer((request, response) => {
    response.writeHead(200, { 'content-type': request.url === '/stream' ? 'text/event-stream' : 'application/json' });
    const piece = Buffer.alloc(1024 * 1024, 0x78);
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  const { port } = http.address() as AddressInfo;
  for (const path of ['/document', '/stream']) {
    const response = await boundedFetch(fetch)(`http://127.0.0.1:${port}${path}`);
    await expect(response.arrayBuffer()).rejects.toThrow('larger than 8 MiB');
  }
  http.closeAllConnections();
  http.close();
});
