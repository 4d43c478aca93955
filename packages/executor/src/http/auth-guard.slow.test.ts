import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const KEY = 'the key of the port';

async function onPort(): Promise<TestExecutor> {
  const stateDir = mkdtempSync(join(tmpdir(), 'tendon-state-'));
  const keyFile = join(stateDir, 'key');
  writeFileSync(keyFile, KEY, { mode: 0o600 });
  const executor = await startExecutor({ endpoint: { port: 0, keyFile }, folders: { stateDir } });
  onTestFinished(async () => {
    await executor.kill();
    rmSync(stateDir, { recursive: true, force: true });
  });
  return executor;
}

async function ask(executor: TestExecutor, method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) {
  const asked = httpRequest(new URL(path, executor.url), { method, headers });
  asked.on('upgrade', (answer: IncomingMessage) => asked.emit('response', answer)).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/alive'],
  ['GET', '/server_info'],
  ['GET', '/watch'],
  ['POST', '/execute_action'],
  ['POST', '/list_files'],
  ['GET', '/files?path=/etc/passwd'],
  ['PUT', '/files?path=written'],
  ['POST', '/lines_to_edit'],
  ['GET', '/ports'],
  ['GET', '/ports/follow'],
  ['POST', '/plugins/start'],
  ['POST', '/lease'],
  ['POST', '/sleep'],
  ['POST', '/shutdown'],
  ['GET', '/effects/x'],
  ['POST', '/effects/x/cancel'],
  ['GET', '/effects/x/output'],
  ['GET', '/no/such/route'],
];

describe('an executor on a port', () => {
  it('RT210: every route and every upgrade asks for the key; what comes without one changes nothing', async () => {
    const executor = await onPort();
    const upgrade = { connection: 'Upgrade', upgrade: 'tcp' };
    for (const [method, path] of [...ROUTES, ['GET', '/tunnel/1'] as const]) {
      const wrong: readonly Readonly<Record<string, string>>[] = [
        {},
        { 'x-session-api-key': 'wrong key' },
        { authorization: `Bearer ${KEY}` },
      ];
      for (const headers of wrong) {
        const also = path.startsWith('/tunnel') ? upgrade : {};
        const { status, body } = await ask(
          executor,
          method,
          `${path}${path.includes('?') ? '&' : '?'}session_api_key=x`,
          { ...headers, ...also },
          '{}',
        );
        expect([method, path, status]).toEqual([method, path, 401]);
        expect(JSON.parse(body)).toEqual({ error: expect.stringContaining('X-Session-API-Key') });
      }
    }
    const key = { 'x-session-api-key': KEY };
    expect(await ask(executor, 'POST', '/list_files', key, '{"path":"."}')).toEqual({ status: 200, body: '[]' });
    expect((await ask(executor, 'POST', '/execute_action', { ...key, origin: 'http://localhost' }, '{}')).status).toBe(403);
  });

  it('RT210: what runs inside does not find the key', async () => {
    const executor = await onPort();
    const action = {
      action: 'run',
      args: { command: `cat ${executor.config.endpoint.keyFile}; tr '\\0' '\\n' < /proc/1/environ; ps -ef; env` },
    };
    const request = JSON.stringify({ key: 'a:1', digest: 'a', incarnation: 'one', action });
    const { body } = await ask(executor, 'POST', '/execute_action', { 'x-session-api-key': KEY }, request);
    expect(body).toContain('"outcome"');
    expect(body.includes(KEY)).toBe(false);
  });

  it('RT211: it does not begin where other machines would reach it without a key, and says what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tendon-open-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'workspace'));
    const workspace = join(folder, 'workspace');
    const config: ExecutorConfig = {
      incarnation: 'one',
      endpoint: { port: 0, host: '0.0.0.0' },
      folders: { stateDir: join(folder, 'state'), workspace, workDir: workspace },
      shell: { program: '/bin/bash' },
      limits: { noOutputTimeoutSeconds: 1, leaseSeconds: 60 },
    };
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    const args = ['--conditions=tendon-source', '--disable-warning=ExperimentalWarning', main, '--config', JSON.stringify(config)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^config\.endpoint\.host 0\.0\.0\.0 can be reached.*config\.endpoint\.keyFile.*\n$/),
    ]);
  });
});
