import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { temporaryFolder } from '../../server.test-support.ts';
import { readFiledConfig, withConfigFile } from './with-config-file.ts';

function homeWith(text: string): string {
  const home = temporaryFolder();
  writeFileSync(join(home, 'config.toml'), text);
  return home;
}

it('SV223: the runtimes of OpenDevin are accepted in the file as in the environment', async () => {
  for (const [name, runtime] of [
    ['eventstream', 'docker'],
    ['server', 'local'],
  ]) {
    const read = await withConfigFile({ TENDON_HOME: homeWith(`[core]\nruntime = "${name}"`) });
    expect(read.ok && readConfig(read.env)).toMatchObject({ ok: true, config: { runtime } });
  }
});

it('SV110: the file is that of the home or the one that is named, and a named one must be there', async () => {
  const home = homeWith('[llm]\nmodel = "a/home"');
  const other = homeWith('[llm]\nmodel = "a/named"');
  const TENDON_CONFIG = join(other, 'config.toml');
  expect(await withConfigFile({ TENDON_HOME: home })).toMatchObject({ ok: true, env: { LLM_MODEL: 'a/home' } });
  expect(await withConfigFile({ TENDON_HOME: home, TENDON_CONFIG })).toMatchObject({ env: { LLM_MODEL: 'a/named' } });
  const env = { TENDON_HOME: temporaryFolder() };
  expect(await withConfigFile(env)).toEqual({ ok: true, env, notices: [], places: {} });
  const missing = await withConfigFile({ ...env, TENDON_CONFIG: join(home, 'none.toml') });
  expect(missing).toEqual({ ok: false, problems: [`${join(home, 'none.toml')}: it is not there.`] });
});

it('SV111, SV114: its keys mean what the names of the environment mean, which win', async () => {
  const home = homeWith(`
[core]
workspace_base = "/srv/work"
runtime = "eventstream"
max_iterations = 7
max_budget_per_task = 2.5
[llm]
model = "openai/gpt-4o"
api_key = "sk-file-key-1"
base_url = "http://127.0.0.1:9"
native_tool_calling = false
[agent]
enable_browsing = false
[sandbox]
base_container_image = "debian:bookworm"
volumes = ["/data:/data:ro"]
[security]
confirmation_mode = true
`);
  const read = await withConfigFile({ TENDON_HOME: home, LLM_MODEL: 'a/stronger', LLM_BASE_URL: ' ' });
  if (!read.ok) throw new Error(read.problems.join());
  expect(readConfig(read.env)).toMatchObject({
    config: {
      workspaceBase: '/srv/work',
      runtime: 'docker',
      maxIterations: 7,
      maxBudgetUsd: 2.5,
      confirmationMode: true,
      model: 'a/stronger',
      llmBaseUrl: 'http://127.0.0.1:9',
      llmToolCalling: 'text',
      browsing: false,
      container: { image: 'debian:bookworm', volumes: [{ source: '/data', target: '/data', readOnly: true }] },
    },
  });
});

it('SV168: MCP servers and the key for searching are configured, in the file or in the environment', async () => {
  const home = homeWith(`
[core]
search_api_key = "tvly-of-the-file"
[mcp]
shttp_servers = ["https://tools.example/mcp", { url = "https://more.example/mcp", api_key = "key-of-more" }]
[[mcp.stdio_servers]]
name = "fetch"
command = "uvx"
args = ["mcp-server-fetch"]
`);
  const read = await readFiledConfig({ TENDON_HOME: home });
  if (!read.ok) throw new Error(read.problems.join());
  expect(read.config.searchApiKey?.reveal()).toBe('tvly-of-the-file');
  expect(read.config.mcpServers).toEqual({
    sse_servers: [],
    shttp_servers: ['https://tools.example/mcp', { url: 'https://more.example/mcp', api_key: 'key-of-more', timeout: 60 }],
    stdio_servers: [{ name: 'fetch', command: 'uvx', args: ['mcp-server-fetch'], env: {} }],
  });
  const own = await readFiledConfig({ TENDON_HOME: home, MCP_CONFIG: '{}', SEARCH_API_KEY: 'tvly-stronger' });
  expect(own).toMatchObject({ ok: true, config: { mcpServers: { shttp_servers: [], stdio_servers: [] } } });
  expect(await readFiledConfig({ TENDON_HOME: temporaryFolder(), MCP_CONFIG: '{' })).toEqual({
    ok: false,
    problems: ['MCP_CONFIG: JSON is expected'],
  });
  const wrong = await readFiledConfig({ TENDON_HOME: homeWith('[mcp]\nsse_servers = [{ url = "ftp://x", api_key = "key-of-x" }]') });
  expect(wrong).toEqual({ ok: false, problems: [expect.stringMatching(/config\.toml: \[mcp\]\.sse_servers\.0\.url: an address/)] });
});

it('SV112: what has no meaning here is named once', async () => {
  const home = homeWith('[core]\ndebug = true\n[llm.draft]\nmodel = "x"\n[kubernetes]\nnamespace = "a"\n[__proto__]\nx = 1');
  const read = await withConfigFile({ TENDON_HOME: home });
  const says = `${join(home, 'config.toml')}: not used here, ignored: [core] debug, [llm] draft, [kubernetes], [__proto__].`;
  expect(read).toMatchObject({ ok: true, notices: [says] });
});

it('SV113: a value of the wrong kind is named where it stands', async () => {
  const problems = async (text: string, env = {}) => {
    const read = await readFiledConfig({ TENDON_HOME: homeWith(text), ...env });
    return read.ok ? [] : read.problems;
  };
  expect(await problems('[core]\nmax_iterations = "many"')).toEqual([
    expect.stringMatching(/config\.toml: \[core\] max_iterations: a number is expected$/),
  ]);
  expect(await problems('[core]\nworkspace_base = ["a", "b"]')).toEqual([expect.stringContaining('[core] workspace_base: text, a number')]);
  expect(await problems('[core]\nmax_iterations = 5', { MAX_ITERATIONS: 'many' })).toEqual(['MAX_ITERATIONS: a number is expected']);
});

it('SV113: what cannot be read is refused with its place, never its content', async () => {
  const refused = async (text: string) => (await withConfigFile({ TENDON_HOME: homeWith(text) })) as { ok: false; problems: string[] };
  const { ok, problems } = await refused('[llm]\napi_key = sk-secret-word');
  expect({ ok, text: problems.join() }).toEqual({ ok: false, text: expect.stringMatching(/not TOML: see line 2, column \d+/) as string });
  expect(problems.join()).not.toContain('sk-secret');
  expect((await refused('[llm]\nmodel = { a = 1 }')).problems).toEqual([expect.stringContaining('[llm] model: text, a number')]);
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'config.toml'));
  expect(await withConfigFile({ TENDON_HOME: folder })).toMatchObject({ ok: false });
});
