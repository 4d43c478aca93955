import { Secret } from '@tendon/protocol/masking';
import { McpConfig } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { seal } from '../platform/auth/stored-secret.ts';
import { testServer } from '../server.test-support.ts';
import { ConversationMcpServers } from './conversation-mcp-servers.ts';

const KEY = 'a-key-of-one-conversation';
const NONE = McpConfig.parse({});
const GIVEN = McpConfig.parse({ shttp_servers: [{ url: 'http://127.0.0.1:1/mcp', api_key: KEY }] });
const revealed = (secrets: readonly Secret[]) => secrets.map((secret) => secret.reveal());

describe('SV161: MCP servers of one conversation', () => {
  const servers = new ConversationMcpServers(new Secret('a-jwt-secret'));

  it('lie sealed in its record, and their keys are hidden while it is open', () => {
    const record = { id: 'a', tool_servers: servers.sealed(GIVEN, NONE, { isAdmins: true }) };
    expect(record.tool_servers.includes(KEY)).toBe(false);
    expect(servers.secrets).toEqual([]);
    expect(servers.isAdmins(record)).toBe(true);
    expect(servers.open(record)).toEqual(GIVEN);
    expect(revealed(servers.secrets)).toEqual([KEY]);
    servers.forget('a');
    expect(servers.secrets).toEqual([]);
    expect(revealed(servers.secretsOf(record))).toEqual([KEY]);
  });

  it('take the key of the settings where its mask is given for the same address, and nowhere else', () => {
    const masked = (url: string) => McpConfig.parse({ shttp_servers: [{ url, api_key: '**********' }] });
    const opened = (url: string) => servers.open({ id: 'b', tool_servers: servers.sealed(masked(url), GIVEN, { isAdmins: true }) });
    expect(opened('http://127.0.0.1:1/mcp')).toEqual(GIVEN);
    expect(opened('http://127.0.0.1:2/mcp')).toMatchObject({ shttp_servers: [{ api_key: null }] });
  });

  it('SV351: are no admin’s where that was not stored', () => {
    const record = { id: 'a', tool_servers: seal(JSON.stringify(GIVEN), new Secret('a-jwt-secret')) };
    expect([servers.open(record), servers.isAdmins(record)]).toEqual([GIVEN, false]);
  });

  it('are none when they cannot be read any more, and those of the settings where there never were any', () => {
    const sealed = new ConversationMcpServers(new Secret('another-secret')).sealed(GIVEN, NONE, { isAdmins: true });
    expect(servers.open({ id: 'c', tool_servers: sealed })).toEqual(NONE);
    expect(servers.open({ id: 'c' })).toBeUndefined();
  });

  it('leave through no answer, log or title', async () => {
    const lines: string[] = [];
    const server = await testServer({ script: [{ text: 'hello' }], log: (line) => lines.push(line) });
    const id = await server.create({ mcp_config: GIVEN, initial_user_msg: `say ${KEY}` });
    const paths = ['', '/events?limit=100', '/trajectory', '/config', '/events/search', '/remember-prompt?event_id=1'];
    for (const path of ['/api/conversations', ...paths.map((end) => `/api/conversations/${id}${end}`)]) {
      const answer = await server.get(path);
      expect([path, (await answer.text()).includes(KEY)]).toEqual([path, false]);
    }
    expect(lines.filter((line) => line.includes(KEY))).toEqual([]);
  });
});

const MISFITS = [
  ['an unknown key', { sse_servers: [{ address: 'http://127.0.0.1:1' }] }, '{url, api_key}'],
  ['no address', { shttp_servers: ['nowhere'] }, 'http://'],
  ['another scheme', { sse_servers: [{ url: 'file:///etc/passwd' }] }, 'http://'],
  ['a command line', { stdio_servers: [{ name: 'a', command: 'npx -y a' }] }, 'args'],
  ['no name', { stdio_servers: [{ name: ' ', command: 'a' }] }, 'a name is expected'],
  ['too much', { stdio_servers: [{ name: 'a', command: 'a', args: ['x'.repeat(70_000)] }] }, 'at most'],
] as const;

it('SV161: what does not fit is refused in words, in the settings as for a conversation, and nothing is made', async () => {
  const server = await testServer();
  for (const [what, mcp_config, words] of MISFITS) {
    for (const path of ['/api/conversations', '/api/settings']) {
      const answer = await server.post(path, { mcp_config });
      expect([what, path, answer.status, (await answer.text()).includes(words)]).toEqual([what, path, 422, true]);
    }
  }
  expect(await (await server.get('/api/conversations')).json()).toMatchObject({ results: [] });
});
