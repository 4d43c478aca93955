import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createMask } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { installedSkills } from '../knowledge/user-skills.ts';
import { temporaryFolder } from '../server.test-support.ts';
import { conversationHooks } from './conversation-hooks.ts';
import { installedHooks } from './installed-hooks.ts';
import { enablePlugin, enabledPlugins, installedPlugins } from './installed-plugins.ts';

const PLUGIN = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
const MCP = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';

function homeWith(files: Readonly<Record<string, unknown>>): string {
  const home = realpathSync(temporaryFolder());
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return home;
}

const skill = (name: string) => `---\nname: ${name}\ndescription: What ${name} does.\n---\nHow.`;

it('EX910: a plugin is a folder of the home whose plugin.json is valid, and brings skills, remote MCP servers and hooks', async () => {
  const home = homeWith({
    'plugins/shop/plugin.json': { $schema: PLUGIN, name: 'shop', version: '1.2', description: 'Buys.' },
    'plugins/shop/skills/buy/SKILL.md': skill('buy'),
    'plugins/shop/mcp.json': { $schema: MCP, mcpServers: { shop: { type: 'streamable-http', url: 'https://shop.example.com/mcp' } } },
    'plugins/shop/dev.tendon/hooks.json': { hooks: { stop: [{ name: 'bill', command: 'echo "$PLUGIN_ROOT" > "$PLUGIN_DATA/root"' }] } },
    'plugins/notes.txt': '',
  });
  const [shop, ...more] = (await installedPlugins(home)).plugins;
  expect(more).toEqual([]);
  expect(shop).toMatchObject({ id: 'shop', version: '1.2', isEnabled: true, problems: [] });
  expect(shop!.mcpServers.shttp_servers).toMatchObject([{ url: 'https://shop.example.com/mcp' }]);
  const ignore = (): void => undefined;
  expect((await installedSkills(home, ignore)).map(({ name }) => name)).toEqual(['buy']);
  const hooks = await conversationHooks('c', { home, mask: createMask([]), onProblem: ignore });
  expect(await hooks.run({ moment: 'stop' }, new AbortController())).toMatchObject({ decision: 'go_on', problems: [] });
  expect(existsSync(join(home, 'plugin-data/shop/root'))).toBe(true);
});

it('EX910: of a plugin whose manifest is wrong nothing counts, and unknown fields are reported and ignored', async () => {
  const manifests = {
    other: { $schema: PLUGIN.replace('1.0.0', '9.0.0'), name: 'other' },
    name: { $schema: PLUGIN, name: 'Has--Capitals' },
    author: { $schema: PLUGIN, name: 'author', author: { nick: 'x' } },
    json: '{',
    fine: { $schema: PLUGIN, name: 'fine', hooks: {}, extensions: 3 },
  };
  const files = Object.entries(manifests).map(([id, manifest]) => [`plugins/${id}/plugin.json`, manifest]);
  const skills = Object.keys(manifests).map((id) => [`plugins/${id}/skills/${id}-skill/SKILL.md`, skill(`${id}-skill`)]);
  const home = homeWith(Object.fromEntries([...files, ...skills]) as Record<string, unknown>);
  mkdirSync(join(home, 'plugins/empty'));
  const problems = Object.fromEntries((await installedPlugins(home)).plugins.map((plugin) => [plugin.id, plugin.problems.join()]));
  expect(problems).toEqual({
    author: expect.stringContaining('author') as string,
    empty: expect.stringContaining('it has no plugin.json') as string,
    fine: 'The plugin fine: plugin.json has fields that are ignored: hooks, extensions',
    json: expect.stringContaining('it is not JSON') as string,
    name: expect.stringContaining('name: lower-case letters') as string,
    other: expect.stringContaining('only Agent Plugins 1.0.0 is known') as string,
  });
  expect((await installedSkills(home, () => undefined)).map(({ name }) => name)).toEqual(['fine-skill']);
});

it('EX911: nothing is read outside the folder of a plugin', async () => {
  const home = homeWith({
    'outside/mcp.json': { $schema: MCP, mcpServers: { a: { type: 'sse', url: 'https://a.example.com' } } },
    'outside/skills/secret/SKILL.md': skill('secret'),
    'plugins/links/plugin.json': { $schema: PLUGIN, name: 'links' },
  });
  symlinkSync(join(home, 'outside/mcp.json'), join(home, 'plugins/links/mcp.json'));
  symlinkSync(join(home, 'outside/skills'), join(home, 'plugins/links/skills'));
  const [links] = (await installedPlugins(home)).plugins;
  expect(links).toMatchObject({ skillsIn: undefined, mcpServers: { sse_servers: [] } });
  expect(links!.problems).toHaveLength(2);
  for (const problem of links!.problems) expect(problem).toContain('it leads out of the plugin');
});

it('EX912: of mcp.json each server counts by itself, remote ones without headers alone', async () => {
  const mcpServers = {
    program: { type: 'stdio', command: './run' },
    keyed: { type: 'streamable-http', url: 'https://a.example.com', headers: { 'x-a': 'b' } },
    plain: { type: 'streamable-http', url: 'http://a.example.com' },
    named: { type: 'streamable-http', url: 'https://me:pw@a.example.com' },
    near: { type: 'sse', url: 'http://127.0.0.1:8080/sse' },
  };
  const home = homeWith({
    'plugins/a/plugin.json': { $schema: PLUGIN, name: 'a' },
    'plugins/a/mcp.json': { $schema: MCP, mcpServers },
    'plugins/b/plugin.json': { $schema: PLUGIN, name: 'b' },
    'plugins/b/mcp.json': { mcpServers },
  });
  const [a, b] = (await installedPlugins(home)).plugins;
  expect(a!.mcpServers).toMatchObject({ stdio_servers: [], shttp_servers: [], sse_servers: [{ url: 'http://127.0.0.1:8080/sse' }] });
  expect(a!.problems.map((problem) => /MCP server (\w+)/.exec(problem)?.[1])).toEqual(['program', 'keyed', 'plain', 'named']);
  expect(b).toMatchObject({ mcpServers: { sse_servers: [] }, problems: [expect.stringContaining('mcp.json does not count: $schema')] });
});

it('EX913: a disabled plugin brings nothing until it is enabled, and all are disabled where that cannot be read', async () => {
  const home = homeWith({
    'plugins/one/plugin.json': { $schema: PLUGIN, name: 'one' },
    'plugins/two/plugin.json': { $schema: PLUGIN, name: 'two' },
  });
  const enabled = async () => (await enabledPlugins(home)).map(({ id }) => id);
  await enablePlugin(home, 'one', false);
  expect(await enabled()).toEqual(['two']);
  await enablePlugin(home, 'one', true);
  expect(await enabled()).toEqual(['one', 'two']);
  writeFileSync(join(home, 'plugins.json'), '{');
  expect(await enabled()).toEqual([]);
  const says = 'all plugins are disabled: correct or remove it';
  expect((await installedHooks(home)).problems).toEqual([expect.stringContaining(says)]);
  await expect(enablePlugin(home, 'one', false)).rejects.toThrow(says);
});

it('EX913: hooks of a plugin that is disabled do not count from the next turn on, also where another part of one does not count', async () => {
  const hooks = { hooks: { stop: [{ command: 'true' }] } };
  const home = homeWith({
    'plugins/one/plugin.json': { $schema: PLUGIN, name: 'one' },
    'plugins/one/dev.tendon/hooks.json': hooks,
    'plugins/two/plugin.json': { $schema: PLUGIN, name: 'two' },
    'plugins/two/mcp.json': { $schema: MCP, mcpServers: { program: { type: 'stdio', command: './run' } } },
  });
  const problems: string[] = [];
  const asked = await conversationHooks('c', { home, mask: createMask([]), onProblem: (problem) => problems.push(problem) });
  expect(asked.has('stop')).toBe(true);
  writeFileSync(join(home, 'plugins/one/dev.tendon/hooks.json'), '{');
  await asked.refresh();
  expect(asked.has('stop')).toBe(true);
  expect(problems).toEqual([expect.stringContaining('stdio'), expect.stringMatching(/^The plugin one: .* go on in this conversation\.$/)]);
  await enablePlugin(home, 'one', false);
  await asked.refresh();
  expect([asked.has('stop'), problems.length]).toEqual([false, 2]);
});

it('EX914: of two skills with one name the first counts, the user’s own before those of plugins', async () => {
  const home = homeWith({
    'skills/buy/SKILL.md': '---\nname: buy\ndescription: Mine.\n---\nHow.',
    'plugins/shop/plugin.json': { $schema: PLUGIN, name: 'shop' },
    'plugins/shop/skills/buy/SKILL.md': skill('buy'),
  });
  const problems: string[] = [];
  const skills = await installedSkills(home, (problem) => problems.push(problem));
  expect(skills.map((each) => each.skill?.description)).toEqual(['Mine.']);
  expect(problems).toEqual(['The plugin shop: the skill buy does not count: there is another one of that name']);
});
