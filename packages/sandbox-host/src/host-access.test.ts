import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allHostRoutes, KEY, temporaryFolder, testConfig, testHost } from './host.test-support.ts';
import { startExecutorHost } from './start-executor-host.ts';

const filled = (url: string): string => url.replace(':incarnation', '00112233445566aa').replace(/:\w+/, 'x');

describe('who may use an executor host', () => {
  it('RT200: without the key every route but /alive refuses, and says nothing', async () => {
    const host = await testHost();
    const routes = [...(await allHostRoutes()), { method: 'GET', url: '/no/such/route' }];
    expect(routes.length).toBeGreaterThan(20);
    for (const { method, url } of routes) {
      for (const key of ['', 'wrong', `${KEY}x`, KEY.slice(1)]) {
        const headers = key === '' ? {} : { 'x-session-api-key': key };
        const query = `session_api_key=${encodeURIComponent(KEY)}`; // in an address it is no key
        const response = await fetch(`${host.url}${filled(url)}?${query}`, { method, headers });
        const text = await response.text();
        const isPublic = url === '/alive';
        expect([method, url, response.status]).toEqual([method, url, isPublic ? 200 : 401]);
        expect(isPublic && method === 'GET' ? text : '{"status":"ok"}').toBe('{"status":"ok"}');
        expect(text).not.toContain(KEY);
      }
    }
  });

  it('RT200: the key may stand in a file, and an invalid key there is reported', async () => {
    const home = temporaryFolder();
    const file = join(home, 'key');
    await expect(startExecutorHost(testConfig(home, { TENDON_EXECUTOR_KEY_FILE: file }))).rejects.toThrow(
      /key file cannot be read: ENOENT/,
    );
    await writeFile(file, 'short\n');
    await expect(startExecutorHost(testConfig(home, { TENDON_EXECUTOR_KEY_FILE: file }))).rejects.toThrow(/holds no key: at least 16/);
    await writeFile(file, `${KEY}\n`);
    const host = await testHost({ TENDON_EXECUTOR_KEY: '', TENDON_EXECUTOR_KEY_FILE: file });
    expect((await host.call('GET', '/server_info')).status).toBe(200);
    expect((await fetch(`${host.url}/server_info`)).status).toBe(401);
  });

  it('RT201: where others can reach the port a key is made, readable for its owner only, and printed once', async () => {
    const host = await testHost({ TENDON_EXECUTOR_KEY: '', HOST: '0.0.0.0' });
    const [, key = ''] = /^key +(\S+)/m.exec(host.banner) ?? [];
    expect(key.length).toBeGreaterThanOrEqual(43);
    expect((await stat(join(host.home, 'executor', 'key'))).mode & 0o777).toBe(0o600);
    expect((await fetch(`${host.url}/server_info`)).status).toBe(401);
    expect((await fetch(`${host.url}/server_info`, { headers: { 'x-session-api-key': key } })).status).toBe(200);
  });

  it('RT201: without a key only this machine is served, under no name but its own', async () => {
    const host = await testHost({ TENDON_EXECUTOR_KEY: '' });
    expect(host.banner).not.toMatch(/^key/m);
    expect((await fetch(`${host.url}/server_info`)).status).toBe(200);
  });

  it('RT202: a page is refused, whatever its origin and even with the key', async () => {
    const host = await testHost();
    for (const origin of ['https://evil.example', 'http://localhost:3000', host.url, 'null']) {
      expect((await host.call('GET', '/server_info', { headers: { origin } })).status).toBe(403);
    }
  });

  it('RT203: an executor does not keep its sandboxes on yet another host', async () => {
    const config = testConfig(temporaryFolder(), { RUNTIME: 'remote', SANDBOX_REMOTE_RUNTIME_API_URL: 'http://127.0.0.1:1' });
    await expect(startExecutorHost(config)).rejects.toThrow(/on its own host/);
  });
});
