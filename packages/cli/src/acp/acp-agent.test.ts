import { expect, it } from 'vitest';
import { mcpOf } from './acp-agent.ts';

it('CK1021: the key of an MCP server that an editor names goes with it, and what could not be sent is refused', () => {
  const server = (name: string, value: string) => ({
    type: 'http' as const,
    name: 'docs',
    url: 'https://docs.example/mcp',
    headers: [{ name, value }],
  });
  expect(mcpOf([server('authorization', 'Bearer a-key')])).toMatchObject({
    mcp_config: { shttp_servers: [{ url: 'https://docs.example/mcp', api_key: 'a-key' }] },
  });
  expect(() => mcpOf([server('X-Team', 'blue')])).toThrow('docs: of headers only "Authorization: Bearer …"');
  expect(() => mcpOf([server('Authorization', 'Basic YTpi')])).toThrow('docs: of headers only');
});
