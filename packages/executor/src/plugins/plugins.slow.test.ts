import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExecutorConfig, PluginStart } from '@tendon/protocol/executor-api';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const SYSTEM_PYTHON = { PATH: '/usr/bin:/bin' };

let executor: TestExecutor;
afterEach(() => executor.kill());

async function open(config: Partial<ExecutorConfig> = {}): Promise<void> {
  executor = await startExecutor(config, SYSTEM_PYTHON);
}
const startPlugin = async (name: string) => JSON.parse((await executor.call('POST', '/plugins/start', { name })).body) as PluginStart;
const states = async () => (JSON.parse((await executor.call('GET', '/server_info')).body) as { plugins: unknown }).plugins;
const servedPorts = async () => (await executor.call('GET', '/ports')).body;

/** An editor of a few lines in the place of the real one, which is an external program. */
function putEditor(name: string, script: string): void {
  const bin = join(executor.workspace, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, name), script);
  chmodSync(join(bin, name), 0o755);
}
const STAND_IN = `#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --port) port="$2" ;; --connection-token) token="$2" ;; esac; shift; done
echo "the editor, let in with $token" > page
exec python3 -m http.server --bind 127.0.0.1 "$port"
`;

describe('plugins', () => {
  it('RT180: a conversation has those that it is given, and what another would answer is refused in words', async () => {
    await open({ plugins: ['agent_skills'] });
    expect(await states()).toEqual({ agent_skills: { ready: true } });
    const { observation, content } = await executor.act('run_ipython', { code: '1' });
    expect([observation, content]).toEqual(['error', expect.stringContaining('`jupyter`')]);
    expect(await startPlugin('vscode')).toEqual({ ok: false, reason: expect.stringContaining('does not have the plugin "vscode"') });
  });

  it('RT180: without a choice it has all of them, and none of them is up before it is used', async () => {
    await open();
    expect(await states()).toEqual({
      jupyter: { ready: false },
      browser: { ready: false },
      diagnostics: { ready: false },
      agent_skills: { ready: true },
      vscode: { ready: false },
    });
  });

  it('RT181: a plugin that was started ahead is ready for its first action', async () => {
    await open();
    expect(await startPlugin('jupyter')).toEqual({ ok: true });
    expect(await states()).toMatchObject({ jupyter: { ready: true } });
    expect((await executor.act('run_ipython', { code: '6 * 7', include_extra: false })).content).toBe('42');
  });

  it('RT182: the helper functions are there by name in every kernel, before `kernel_init_code`, and nothing else of them', async () => {
    await open();
    const cell = async (code: string, args = {}) => (await executor.act('run_ipython', { code, include_extra: false, ...args })).content;
    expect(await cell('print(seen)', { kernel_init_code: 'seen = callable(open_file)' })).toBe('True');
    expect(await cell("sorted(name for name in dir() if 'tendon' in name or name in ('reported', 'Refused', 'module'))")).toBe('[]');
    expect(await cell('import os; os._exit(1)')).toContain('ended');
    expect(await cell('create_file("a.txt", "one")')).toBe(
      `[File: ${executor.workspace}/a.txt (1 lines)]\n(the file begins here)\n1|one\n(the file ends here)`,
    );
  });

  it('RT186: without an editor on the PATH the reason says what is missing', async () => {
    await open();
    expect(await startPlugin('vscode')).toEqual({
      ok: false,
      reason: expect.stringContaining('neither openvscode-server nor code-server'),
    });
  });

  it('RT186: an editor is started once on a loopback port with a token, reached there, and not offered as the agent’s', async () => {
    await open();
    putEditor('openvscode-server', STAND_IN);
    await executor.run('export PATH="$PWD/bin:$PATH"');
    const [first, second] = await Promise.all([startPlugin('vscode'), startPlugin('vscode')]);
    if (!first.ok || !first.page) throw new Error(JSON.stringify(first));
    expect(second).toEqual(first);
    const { port, path } = first.page;
    const token = new URLSearchParams(path.slice(2)).get('tkn')!;
    expect((await executor.run(`curl -s http://127.0.0.1:${port}/page`)).content).toBe(`the editor, let in with ${token}`);
    expect(JSON.parse(await servedPorts())).toEqual({ ports: [] });
    expect(await states()).toMatchObject({ vscode: { ready: true } });
    await executor.run('pkill -f http.server');
    await expect.poll(states).toMatchObject({ vscode: { ready: false } });
    expect(await startPlugin('vscode')).toMatchObject({ ok: true });
  });

  it('SV60: what a kernel listens on for itself is not offered, and what its cells serve is', async () => {
    await open();
    const serve =
      'import http.server, threading\ns = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)';
    await executor.act('run_ipython', { code: 'print(1)' });
    expect(JSON.parse(await servedPorts())).toEqual({ ports: [] });
    await executor.act('run_ipython', { code: `${serve}\nthreading.Thread(target=s.serve_forever, daemon=True).start()` });
    await expect.poll(async () => (JSON.parse(await servedPorts()) as { ports: unknown[] }).ports).toHaveLength(1);
  });

  it('RT186: an editor that does not come up is reported with its last lines', async () => {
    await open();
    putEditor('code-server', '#!/bin/sh\necho "no room left" >&2; exit 3\n');
    await executor.run('export PATH="$PWD/bin:$PATH"');
    expect(await startPlugin('vscode')).toEqual({ ok: false, reason: 'The editor did not start: no room left' });
  });
});
