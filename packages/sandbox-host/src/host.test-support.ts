import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@tendon/server/headless';
import { createMask } from '@tendon/protocol/masking';
import { createLogger, type Config } from '@tendon/server/platform';
import { onTestFinished } from 'vitest';
import { createHostApp } from './host-app.ts';
import { type HostContext, HOST_TIMEOUTS } from './host-context.ts';
import { startExecutorHost, type HostOptions, type RunningHost } from './start-executor-host.ts';

export const KEY = 'the key of the host';

export interface TestHost extends RunningHost {
  readonly home: string;
  readonly workspace: string;
  /** With the key; `json` is the body. */
  call(method: string, path: string, options?: { readonly json?: unknown; readonly headers?: Record<string, string> }): Promise<Response>;
}

/** A host in this process, on a free port, without isolation; its sandboxes and folders are gone when the test is over. */
export async function testHost(
  env: Readonly<Record<string, string>> = {},
  options: Pick<HostOptions, 'timeouts' | 'logger'> = {},
): Promise<TestHost> {
  const home = temporaryFolder();
  const workspace = temporaryFolder();
  const config = testConfig(home, { TENDON_EXECUTOR_KEY: KEY, WORKSPACE_BASE: workspace, ...env });
  const logger = createLogger({ level: 'silent', mask: createMask([]) });
  const host = await startExecutorHost(config, { logger, ...options });
  const call: TestHost['call'] = (method, path, { json, headers } = {}) =>
    fetch(host.url + path, {
      method,
      headers: { 'x-session-api-key': KEY, ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  onTestFinished(() => host.close({ stopSandboxes: true }));
  return { ...host, home, workspace, call };
}

export function testConfig(home: string, env: Readonly<Record<string, string>> = {}): Config {
  const read = readConfig({ PORT: '0', TENDON_HOME: home, RUNTIME: 'none', ...env });
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.config;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-host-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export interface HostRoute {
  readonly method: string;
  readonly url: string;
}

/** Every route of a host, as it registers them. */
export async function allHostRoutes(): Promise<readonly HostRoute[]> {
  const routes: HostRoute[] = [];
  const access = { host: '', allowedHosts: [], key: undefined };
  const context = { access, timeouts: HOST_TIMEOUTS, clock: { now: () => new Date() } } as unknown as HostContext;
  const app = await createHostApp(context, async (recording) => {
    recording.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map((name) => ({ method: name, url }))));
  });
  await app.ready();
  await app.close();
  return routes;
}
