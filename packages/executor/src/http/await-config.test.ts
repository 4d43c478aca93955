import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AwaitedConfig, ExecutorConfig } from '@tendon/protocol/executor-api';
import { expect, it, onTestFinished } from 'vitest';
import { awaitConfig, parseAwaitRequest } from './await-config.ts';

const keys = generateKeyPairSync('ed25519');
const KEY = 'a key of this sandbox alone';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Place {
  readonly folder: string;
  readonly url: string;
  readonly configured: Promise<ExecutorConfig>;
  readonly awaited: AwaitedConfig;
  put(body: unknown, signed?: { readonly place?: string; readonly by?: typeof keys }): Promise<{ status: number; text: string }>;
}

async function place(env: Record<string, string> = {}): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-awaits-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const folders = { stateDir: join(folder, 'state'), workspace: join(folder, 'workspace'), home: join(folder, 'home') };
  mkdirSync(folders.workspace);
  const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const configured = awaitConfig({ host: '127.0.0.1', port, publicKey, place: 'this-pod', folders }, env);
  const url = `http://127.0.0.1:${port}`;
  const awaited: AwaitedConfig = {
    key: KEY,
    config: {
      incarnation: 'one',
      folders: { stateDir: folders.stateDir, workspace: folders.workspace, workDir: join(folders.workspace, 'project') },
      shell: { program: '/bin/bash' },
      limits: { noOutputTimeoutSeconds: 10, leaseSeconds: 600 },
    },
  };
  return {
    ...{ folder, url, configured, awaited },
    async put(body, { place: name = 'this-pod', by = keys } = {}) {
      const content = typeof body === 'string' ? body : JSON.stringify(body);
      const signature = sign(null, Buffer.from(`${name}\n${content}`), by.privateKey).toString('base64');
      const answer = await fetch(`${url}/config`, { method: 'PUT', body: content, headers: { 'x-tendon-signature': signature } });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

it('SB1011: a place that waits takes the configuration that is signed for it, and answers nothing else', async () => {
  const { url, put, configured, awaited, folder } = await place({ PATH: '/bin', LANG: 'C', TENDON_POD_IP: '10.0.0.1' });
  expect(await (await fetch(`${url}/alive`)).json()).toEqual({ status: 'waiting' });
  expect((await fetch(`${url}/server_info`)).status).toBe(404);
  expect((await fetch(`${url}/config`, { method: 'PUT', body: JSON.stringify(awaited) })).status).toBe(403);
  expect((await put(awaited, { by: generateKeyPairSync('ed25519') })).status).toBe(403);
  expect((await put(awaited, { place: 'another-pod' })).status).toBe(403);
  expect((await put(awaited)).status).toBe(204);
  const config = await configured;
  expect(config).toMatchObject({ incarnation: 'one', endpoint: { host: '127.0.0.1', keyFile: join(folder, 'state/executor-key') } });
  expect(config.shell.environment).toEqual({ PATH: '/bin', LANG: 'C' });
  expect(readFileSync(config.endpoint.keyFile!, 'utf8')).toBe(KEY);
  expect(statSync(config.endpoint.keyFile!).mode & 0o777).toBe(0o600);
  expect(existsSync(config.folders.workDir)).toBe(true);
  await expect(fetch(`${url}/alive`)).rejects.toThrow('fetch failed');
});

it('SB1011: a configuration that cannot be used is refused with the reason, and the next one is taken', async () => {
  const { put, configured, awaited } = await place();
  expect(await put('no JSON')).toMatchObject({ status: 400 });
  expect(await put({ ...awaited, config: { ...awaited.config, limits: {} } })).toMatchObject({
    status: 400,
    text: expect.stringContaining('config.limits') as string,
  });
  expect(await put(' '.repeat(1024 * 1024 + 1))).toMatchObject({ status: 400 });
  expect((await put(awaited)).status).toBe(204);
  expect(await configured).toMatchObject({ incarnation: 'one' });
});

it('SB1012: a fresh start leaves nothing of the earlier state and home, and all of the workspace', async () => {
  const { put, configured, awaited, folder } = await place();
  for (const name of ['state', 'home', 'workspace']) {
    mkdirSync(join(folder, name, 'older'), { recursive: true });
    writeFileSync(join(folder, name, 'older/file'), 'older');
  }
  expect((await put({ ...awaited, isFresh: true })).status).toBe(204);
  await configured;
  expect(['state', 'home', 'workspace'].map((name) => existsSync(join(folder, name, 'older')))).toEqual([false, false, true]);
});

it('what is awaited is named by an argument', () => {
  expect(parseAwaitRequest(['--config', '{}'])).toBeUndefined();
  expect(parseAwaitRequest(['--await', '{"port":1}'])).toEqual({ port: 1 });
});
