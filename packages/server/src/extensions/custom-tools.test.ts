import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CallToolMcpAction, type Action } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { expect, it, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { temporaryFolder } from '../server.test-support.ts';
import { CustomTools } from './custom-tools.ts';
import { installedPlugins } from './installed-plugins.ts';
import { ToolFiles, toolFolders } from './installed-tools.ts';

const WAIT = { timeout: 50_000, interval: 5 };
const never = new AbortController();

function put(home: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
}

const tool = (name: string, run: string, more = '') => `export default { name: '${name}', description: 'Does it.', ${more} run: ${run} };`;

function opened(home: string, secrets: Readonly<Record<string, string>> = {}) {
  const problems: string[] = [];
  const now = { ms: 0 };
  const tools = new CustomTools({
    files: new ToolFiles({ now: () => new Date(now.ms) }),
    folders: toolFolders(home, []),
    context: { conversationId: 'c'.repeat(32), workspace: '/w' },
    secrets: () => new Map(Object.entries(secrets).map(([name, value]) => [name, new Secret(value)])),
    onProblem: (problem) => problems.push(problem),
  });
  const call = async (name: string, args: object = {}, { signal } = never) => {
    await tools.has(name, { signal });
    return tools.call(
      { ...CallToolMcpAction.create({ name, arguments: { ...args } }), id: 1, timestamp: '', source: 'agent' } as Action<'call_tool_mcp'>,
      { signal },
    );
  };
  return { problems, now, tools, call };
}

it('EX921, EX924: files of the folder are offered as tools, and what is wrong with the others is reported once', async () => {
  const home = temporaryFolder();
  put(home, {
    'tools/weather.ts': `
      import { where } from './lib/where.ts';
      const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
      type Args = { readonly city: string };
      export const tool = { name: 'weather', description: 'The weather.', parameters, readOnly: true, run: ({ city }: Args) => where(city) };`,
    'tools/lib/where.ts': 'export const where = (city: string) => `in ${city}`;',
    'tools/notes.md': 'no tool',
    'tools/types.d.ts': 'export type A = string;',
    'tools/typing.ts': `export default {\n  name: 'typing'\n  description: 'x',\n};`,
    'tools/nothing.ts': 'export const other = 1;',
    'tools/own.ts': tool('execute_bash', '() => 1'),
    'tools/schema.ts': tool('schema', '() => 1', `parameters: { type: 'object', properties: { a: { type: 'text' } } },`),
    'tools/z-again.ts': tool('weather', '() => 2'),
  });
  const { problems, tools } = opened(home);
  const [offered, ...others] = await tools.offered(never);
  expect(others).toEqual([]);
  expect(offered!.spec).toMatchObject({ name: 'weather', description: 'The weather.', parameters: { required: ['city'] } });
  expect(offered!.toAction({})).toEqual({ ok: false, error: expect.stringContaining('"city" is missing') as string });
  expect(offered!.toAction({ city: 'Rome' })).toMatchObject({ ok: true, action: { action: 'call_tool_mcp', args: { name: 'weather' } } });
  expect(problems).toEqual(
    [
      'nothing.ts does not count: name: .*export default',
      'own.ts does not count: the agent has a tool execute_bash of its own',
      'schema.ts does not count: parameters: .*text',
      'typing.ts does not count: .*line 3',
      'z-again.ts does not count: .*weather.ts has the same name',
    ].map((words) => expect.stringMatching(words) as string),
  );
  await tools.offered(never);
  expect(problems).toHaveLength(5);
});

it('EX921: a change counts from the next turn on, and a file that could not be loaded is loaded again after a minute', async () => {
  const home = temporaryFolder();
  put(home, { 'tools/a.ts': `import './later.js';\n${tool('a', '() => 1')}` });
  const { now, tools } = opened(home);
  const names = async () => (await tools.offered(never)).map(({ spec }) => spec.name);
  expect(await names()).toEqual([]);
  put(home, { 'tools/later.js': `export default { name: 'later', description: 'x', run() {} };` });
  expect(await names()).toEqual(['later']);
  now.ms += 60_000;
  expect(await names()).toEqual(['a', 'later']);
  put(home, { 'tools/a.ts': tool('other_a', '() => 1') });
  expect(await names()).toEqual(['other_a', 'later']);
});

itInFull('EX922: a call runs in a process of its own with few variables, and its result is not marked as the words of others', async () => {
  process.env.TENDON_TEST_KEY = 'of the server';
  const home = temporaryFolder();
  const run = `async ({ n }, { conversationId, workspace, secrets }) => {
    console.log('noise');
    return { n, pid: process.pid, conversationId, workspace, secrets, key: process.env.TENDON_TEST_KEY, folder: process.cwd() };
  }`;
  put(home, { 'tools/a.ts': tool('a', run, `secrets: ['KEY'],`), 'tools/web.ts': tool('web', `() => 'x'`, 'outside: true,') });
  const { call } = opened(home, { KEY: 'v1', OTHER: 'v2' });
  const { content, extras } = await call('a', { n: 3 });
  const { pid, ...seen } = JSON.parse(content) as { pid: number };
  delete process.env.TENDON_TEST_KEY;
  expect(pid).not.toBe(process.pid);
  expect(seen).toEqual({ n: 3, conversationId: 'c'.repeat(32), workspace: '/w', secrets: { KEY: 'v1' }, folder: join(home, 'tools') });
  expect(extras).toEqual({ name: 'a', arguments: { n: 3 }, is_own: true });
  expect((await call('web')).extras).toEqual({ name: 'web', arguments: {} });
  expect(await opened(home).call('a')).toMatchObject({ content: expect.stringContaining('needs the secret KEY') as string });
});

itInFull('EX922: an error, a kill, a time that is up and an endless result cost one failed call each', async () => {
  const home = temporaryFolder();
  const runs = {
    throws: `() => { throw new Error('no such order') }`,
    killed: `() => process.kill(process.pid, 'SIGKILL')`,
    slow: `() => new Promise((resolve) => setTimeout(resolve, 600_000))`,
    never: `() => new Promise(() => {})`,
    long: `() => 'x'.repeat(3_000_000)`,
    nothing: `() => undefined`,
  };
  for (const [name, run] of Object.entries(runs))
    put(home, { [`tools/${name}.ts`]: tool(name, run, name === 'slow' ? 'timeout: 1,' : '') });
  const { call } = opened(home);
  const words = async (name: string) => (await call(name)).content;
  expect(await words('throws')).toBe('The tool "throws" failed: no such order');
  expect(await words('killed')).toBe('The tool "killed" gave no result: SIGKILL ended it. It may have been executed all the same.');
  expect(await words('slow')).toContain('it took longer than 1 s');
  expect(await words('never')).toContain('it ended without a result');
  expect(await words('long')).toMatch(/^x{1000000}\n\[the rest of 3000000 characters was left out\]$/);
  expect(await words('nothing')).toBe('It was executed and returned nothing.');
});

it('EX923: calls run one after the other but for those that only read, and a cancelled one leaves no process', async () => {
  const home = temporaryFolder();
  const waits = `async () => {
    const { spawn } = await import('node:child_process');
    const { writeFileSync, renameSync } = await import('node:fs');
    const { pid } = spawn('sleep', ['600']);
    writeFileSync('pid.new', String(pid));
    renameSync('pid.new', 'pid');
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }`;
  put(home, { 'tools/waits.ts': tool('waits', waits), 'tools/reads.ts': tool('reads', `() => 'read'`, 'readOnly: true,') });
  put(home, { 'tools/writes.ts': tool('writes', `async () => (await import('node:fs')).writeFileSync('written', '')`) });
  const { call, tools } = opened(home);
  const stopped = new AbortController();
  const [first, second] = [call('waits', {}, stopped), call('writes')];
  await vi.waitUntil(() => existsSync(join(home, 'tools/pid')), WAIT);
  expect((await call('reads')).content).toBe('read');
  expect(existsSync(join(home, 'tools/written'))).toBe(false);
  stopped.abort();
  expect((await first).content).toContain('It may have been executed all the same');
  await second;
  expect(existsSync(join(home, 'tools/written'))).toBe(true);
  const pid = readFileSync(join(home, 'tools/pid'), 'utf8');
  await vi.waitUntil(() => isGone(pid), WAIT);
  await tools.close();
  expect((await call('writes')).content).toBe('Not executed: it was cancelled.');
});

it('EX923: a stop does not wait for a file that is being loaded', async () => {
  const home = temporaryFolder();
  put(home, { 'tools/hangs.ts': `await new Promise((resolve) => setTimeout(resolve, 600_000));` });
  const { tools, call } = opened(home);
  const stopped = new AbortController();
  const waits = [tools.offered(stopped), call('hangs', {}, stopped)] as const;
  stopped.abort();
  expect(await waits[0]).toEqual([]);
  expect((await waits[1]).content).toContain('there is no tool "hangs"');
});

function isGone(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
}

it('EX925: a plugin brings tools, and no file of it leads out of the plugin', async () => {
  const [home, outside] = [temporaryFolder(), temporaryFolder()];
  const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
  put(home, {
    'plugins/shop/plugin.json': JSON.stringify({ $schema, name: 'shop' }),
    'plugins/shop/dev.tendon/tools/buy.ts': tool('buy', '() => process.env.PLUGIN_DATA'),
  });
  put(outside, { 'sell.ts': tool('sell', '() => 1') });
  symlinkSync(join(outside, 'sell.ts'), join(home, 'plugins/shop/dev.tendon/tools/sell.ts'));
  const { plugins } = await installedPlugins(home);
  const { tools, problems } = await new ToolFiles({ now: () => new Date(0) }).read(toolFolders(home, plugins));
  expect(tools.map((each) => [each.tool.spec.name, each.file.env.PLUGIN_DATA])).toEqual([['buy', join(home, 'plugin-data/shop')]]);
  expect(problems).toEqual([expect.stringContaining('sell.ts does not count: it leads out of the plugin')]);
});
