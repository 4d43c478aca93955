import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { statelessServer } from '../mcp/stateless-server.test-support.ts';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';
import { enablePlugin } from './installed-plugins.ts';

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });

it('EX910: the agent of a conversation gets skills, remote MCP servers and hooks of an enabled plugin', async () => {
  const [home, base] = [temporaryFolder(), temporaryFolder()];
  const { url, methods } = await statelessServer();
  const files = {
    'plugin.json': { $schema: `${SCHEMAS}/plugin.schema.json`, name: 'travel' },
    'mcp.json': { $schema: `${SCHEMAS}/mcp.schema.json`, mcpServers: { booking: { type: 'streamable-http', url } } },
    'skills/pack/SKILL.md': '---\nname: pack\ndescription: How a bag is packed.\n---\nRun pack.sh.',
    'skills/pack/pack.sh': 'true',
    'dev.tendon/hooks.json': { hooks: { session_start: [{ name: 'facts', command: `echo '{"context": "The season is winter."}'` }] } },
  };
  for (const [path, content] of Object.entries(files)) {
    const file = join(home, 'plugins/travel', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  const script = [call('use_skill', { name: 'pack' }), call('finish', { message: 'Done.' })];
  const server = await testServer({ home, env: { WORKSPACE_BASE: base }, script });
  const logins = async () => ((await (await server.get('/api/mcp/logins')).json()) as { servers: unknown }).servers;
  expect(await logins()).toMatchObject([{ name: '127_0_0_1', url, state: 'logged_out' }]);
  const { frames } = await socketIoClient(server, { conversation_id: await server.create({ initial_user_msg: 'go' }) });
  await frames.untilState('finished');
  const text = JSON.stringify(frames.all);
  for (const words of ['pack: How a bag is packed.', 'The season is winter.', 'Run pack.sh.']) expect(text).toContain(words);
  await vi.waitFor(() => expect(methods).toContain('tools/list'), 60_000);
  expect(existsSync(join(base, '.tendon/plugins/travel/pack/pack.sh'))).toBe(true);
  await enablePlugin(home, 'travel', false);
  expect(await logins()).toEqual([]);
});
