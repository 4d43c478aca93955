import { describe, expect, it } from 'vitest';
import { readConfig } from '../../platform/config/config.ts';
import { testServer, type TestServer } from '../../server.test-support.ts';
import { networkPolicy, checkNetworkParams } from './conversation-network.ts';
import { networkWords } from '../../sandboxes/open-driver.ts';

const configOf = (env: Readonly<Record<string, string>>) => {
  const read = readConfig(env);
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.config.network;
};

describe('SV50: the environment’s network', () => {
  it('is the public internet by default, and what the names say', () => {
    expect(configOf({})).toEqual({ mode: 'full', allow: [], allowPrivate: [] });
    const env = {
      SANDBOX_NETWORK: 'allowlist',
      SANDBOX_NETWORK_ALLOW: 'A.example, *.b.example',
      SANDBOX_NETWORK_ALLOW_PRIVATE: 'db.lan:5432,[::1]:80',
    };
    expect(configOf(env)).toEqual({ mode: 'allowlist', allow: ['a.example', '*.b.example'], allowPrivate: ['db.lan:5432', '::1:80'] });
    expect(networkWords(configOf(env))).toEqual(['network by allowlist', 'OPEN NEAR THIS HOST: db.lan:5432 ::1:80']);
  });

  it.each([
    [{ SANDBOX_NETWORK: 'some' }, /SANDBOX_NETWORK: expected none, allowlist or full/],
    [{ SANDBOX_NETWORK_ALLOW: '*' }, /SANDBOX_NETWORK_ALLOW: names are expected/],
    [{ SANDBOX_NETWORK_ALLOW_PRIVATE: 'db.lan' }, /host:port is expected/],
    [{ SANDBOX_NETWORK_ALLOW_PRIVATE: 'db.lan:70000' }, /host:port is expected/],
  ])('%j is one line that names it', (env, problem) => expect(() => configOf(env)).toThrow(problem));
});

describe('SV51: a conversation’s network', () => {
  const rules = (SANDBOX_NETWORK: string, isPoliced = true) => ({
    network: configOf({ SANDBOX_NETWORK, SANDBOX_NETWORK_ALLOW: 'a.example' }),
    isPoliced,
  });

  it('is as wide as the server’s at most, and never quietly something else', () => {
    expect(checkNetworkParams(rules('full'), { mode: 'none' })).toMatchObject({ ok: true });
    expect(checkNetworkParams(rules('allowlist'), { mode: 'full' })).toMatchObject({ ok: false, error: { status: 400 } });
    expect(checkNetworkParams(rules('full', false), { mode: 'none' })).toMatchObject({ ok: false });
    expect(checkNetworkParams(rules('full', false), {})).toMatchObject({ ok: true });
    expect(checkNetworkParams(rules('full'), { allow: ['https://x'] })).toMatchObject({ ok: false });
  });

  it('adds to the server’s list, and follows a server that was narrowed since', () => {
    expect(networkPolicy(rules('full'), { mode: 'allowlist', allow: ['b.example'] })).toMatchObject({
      mode: 'allowlist',
      allow: ['a.example', 'b.example'],
    });
    expect(networkPolicy(rules('none'), { mode: 'full', allow: [] })).toMatchObject({ mode: 'none' });
    expect(networkPolicy(rules('allowlist'), undefined)).toMatchObject({ mode: 'allowlist' });
  });
});

describe('SV52: the network over REST', () => {
  const put = async (server: TestServer, id: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/api/conversations/${id}/network`, { method: 'PUT', headers, body: JSON.stringify(body) });
    return [response.status, await response.json()] as const;
  };

  it('is shown, and refused in words where it cannot be enforced', async () => {
    const server = await testServer();
    const id = await server.create();
    expect(await (await server.get(`/api/conversations/${id}/network`)).json()).toEqual({
      mode: 'full',
      allow: [],
      allow_private: [],
      refused: [],
      reached: [],
      questions: [],
    });
    expect(await put(server, id, { mode: 'full', allow: ['x.example'] })).toMatchObject([200, { allow: ['x.example'] }]);
    expect(await put(server, id, { mode: 'none' })).toMatchObject([400, { error: expect.stringContaining('RUNTIME') as string }]);
    expect(await put(server, id, { mode: 'some' })).toMatchObject([422, {}]);
    expect(await put(server, '0'.repeat(32), {})).toMatchObject([404, {}]);
    const refused = await server.post('/api/conversations', { network: { mode: 'none' } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { status: 'error' }]);
    await expect(testServer({ env: { SANDBOX_NETWORK: 'none' } })).rejects.toThrow(/SANDBOX_NETWORK=none cannot be enforced/);
  });
});
