import { expect, it } from 'vitest';
import { testServer } from '../server.test-support.ts';
import { statelessServer } from './stateless-server.test-support.ts';

it('SV1022: a stored MCP server is connected to and its tools are listed, or why it cannot be used; nothing else is connected to', async () => {
  const tools = await statelessServer();
  const server = await testServer();
  const gone = 'http://127.0.0.1:9/mcp';
  await server.post('/api/settings', { mcp_config: { shttp_servers: [tools.url, gone] } });
  const test = async (named: string) => {
    const answer = await server.post('/api/mcp/test', { server: named });
    return { status: answer.status, ...((await answer.json()) as { tools?: readonly { name: string }[]; failure?: string | null }) };
  };
  const found = await test(tools.url);
  expect(found).toMatchObject({ status: 200, failure: null });
  expect(found.tools!.length).toBeGreaterThan(0);
  expect(await test(gone)).toMatchObject({ status: 200, tools: [], failure: expect.stringMatching(/./) });
  expect((await test('http://127.0.0.1:1/mcp')).status).toBe(400);
});
