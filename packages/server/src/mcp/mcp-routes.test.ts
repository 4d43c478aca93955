import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { fakeGitHub, GITHUB_TOKEN } from '../git-providers/apis/fake-github.test-support.ts';
import type { FakeProvider } from '../git-providers/apis/fake-provider.test-support.ts';
import { testServer, type TestServer } from '../server.test-support.ts';

const PULL = { repo_name: 'ann/tools', source_branch: 'fix', target_branch: 'main', title: 'Mend it', body: null };
const FIRST = 'https://github.example/ann/tools/pull/11';
const SENT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function withGitHub(server: TestServer): Promise<FakeProvider> {
  const fake = await fakeGitHub();
  const stored = await server.post('/api/add-git-providers', { provider_tokens: { github: { token: GITHUB_TOKEN, host: fake.origin } } });
  expect(stored.status).toBe(200);
  return fake;
}

/** The official client, as an agent of another program has it. */
async function toolClient(server: TestServer, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/mcp`), { requestInit: { headers } }) as Transport);
  onTestFinished(() => client.close());
  return client;
}

const text = (result: Awaited<ReturnType<Client['callTool']>>) => (result.content as { readonly text: string }[])[0]!.text;
const listed = async (server: TestServer, id: string) =>
  ((await (await server.get(`/api/conversations/${id}`)).json()) as { readonly pr_number: readonly number[] }).pr_number;

it('SV162: the official client is offered the tools of 0.62, with their arguments', async () => {
  const { tools } = await (await toolClient(await testServer())).listTools();
  expect(tools.map(({ name, inputSchema }) => [name, ...Object.keys(inputSchema.properties ?? {})])).toEqual([
    ['create_pr', 'repo_name', 'source_branch', 'target_branch', 'title', 'body', 'draft', 'labels'],
    ['create_mr', 'id', 'source_branch', 'target_branch', 'title', 'description', 'labels'],
    ['create_bitbucket_pr', 'repo_name', 'source_branch', 'target_branch', 'title', 'description'],
  ]);
});

itInFull('SV162: what is opened is noted in the conversation that the header names, and is there after a restart', async () => {
  const server = await testServer();
  const fake = await withGitHub(server);
  const id = await server.create();
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const client = await toolClient(server, { 'X-OpenHands-ServerConversation-ID': uuid });
  const result = await client.callTool({ name: 'create_pr', arguments: PULL });
  expect([result.isError, text(result), result.structuredContent]).toEqual([undefined, FIRST, { result: FIRST }]);
  expect(await listed(server, id)).toEqual([11]);
  expect(await (await server.get('/api/conversations')).json()).toMatchObject({ results: [{ pr_number: [11] }] });
  await server.close();
  expect(await listed(await testServer({ home: server.home }), id)).toEqual([11]);
  expect(fake.requests.filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

it('SV162: without a conversation it is opened all the same; for one that there is not, nothing is', async () => {
  const server = await testServer();
  const fake = await withGitHub(server);
  const lost = await toolClient(server, { 'x-openhands-serverconversation-id': '0'.repeat(32) });
  const refused = await lost.callTool({ name: 'create_pr', arguments: PULL });
  expect([refused.isError, text(refused)]).toEqual([true, expect.stringContaining('There is no conversation')]);
  expect(fake.requests.filter((line) => line.startsWith('POST'))).toEqual([]);
  expect(text(await (await toolClient(server)).callTool({ name: 'create_pr', arguments: PULL }))).toBe(FIRST);
});

it('SV162: without a token the answer says what to do, and an unknown tool is reported', async () => {
  const client = await toolClient(await testServer());
  const refused = await client.callTool({ name: 'create_pr', arguments: PULL });
  expect([refused.isError, text(refused)]).toEqual([true, expect.stringContaining('There is no token for GitHub. Store one')]);
  await expect(client.callTool({ name: 'create_issue', arguments: {} })).rejects.toThrow('There is no tool "create_issue"');
});

const NO_MESSAGES: readonly (readonly [string, string, number, number])[] = [
  ['no JSON', '{"jsonrpc"', 400, -32_700],
  ['no message', '{"hello":1}', 400, -32_700],
  ['a text', '"hello"', 400, -32_600],
  ['nothing', '', 400, -32_700],
  ['many messages', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32_600],
  ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tools/none"}', 200, -32_601],
  ['a call of nothing', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32_602],
  [
    'a prototype',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":{"a":1}}}}',
    200,
    -32_602,
  ],
  ['too much', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(2 * 1024 * 1024) }), 413, -32_600],
];

it('SV165: what is no message is answered by an error of the protocol', async () => {
  const server = await testServer();
  for (const [what, body, status, code] of NO_MESSAGES) {
    const answer = await fetch(`${server.url}/mcp/mcp`, { method: 'POST', headers: SENT, body });
    expect([what, answer.status, await answer.json()]).toMatchObject([what, status, { error: { code } }]);
  }
});

it('SV165: there are no sessions: a message needs none before it, a stream is refused, a notification is taken', async () => {
  const server = await testServer();
  const post = (message: object, headers = {}) => server.post('/mcp/mcp', { jsonrpc: '2.0', ...message }, headers);
  expect(await (await post({ id: 'a', method: 'tools/list' })).json()).toMatchObject({ id: 'a', result: { tools: [{}, {}, {}] } });
  const first = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  });
  expect(first.headers.get('mcp-session-id')).toBeNull();
  expect(await first.json()).toMatchObject({ result: { protocolVersion: '2025-03-26', serverInfo: { name: 'tendon' } } });
  expect((await post({ method: 'notifications/initialized' })).status).toBe(202);
  expect((await post({ id: 2, method: 'tools/list' }, { 'mcp-protocol-version': 'next year' })).status).toBe(400);
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(`${server.url}/mcp/mcp`, { method, headers: SENT });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  }
});
