/** The network that the stored settings give every conversation, as its sandbox meets it. */
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { testServer, type TestServer } from '../../server.test-support.ts';
import { runIn } from './network.test-support.ts';

const networkOf = async (server: TestServer, id: string): Promise<unknown> => (await server.get(`/api/conversations/${id}/network`)).json();

describe('SV450: the network of the settings', () => {
  itInFull('counts for every conversation without a mode of its own, from the next connection of its sandbox on', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' } });
    const id = await server.create();
    const own = await server.create({ network: { mode: 'none' } });
    expect(await networkOf(server, id)).toMatchObject({ mode: 'full', allow: [] });
    const body = { sandbox_network: 'allowlist', sandbox_network_allow: ['Listed.example'] };
    expect((await server.post('/api/settings', body)).status).toBe(200);
    expect(await (await server.get('/api/settings')).json()).toMatchObject({
      sandbox_network: 'allowlist',
      sandbox_network_allow: ['listed.example'],
    });
    for (const one of [id, await server.create()]) {
      expect(await networkOf(server, one)).toMatchObject({ mode: 'allowlist', allow: ['listed.example'] });
    }
    expect(await networkOf(server, own)).toMatchObject({ mode: 'none' });
    expect(await runIn(server, id, 'curl -sS -m 20 http://other.example/')).toContain('other.example is not on the list');
    expect(await runIn(server, id, 'curl -sS -m 20 http://listed.example/')).not.toContain('not on the list');
    await server.post('/api/settings', { language: 'de' });
    expect(await networkOf(server, id)).toMatchObject({ mode: 'allowlist' });
    await server.post('/api/settings', { sandbox_network: null, sandbox_network_allow: null });
    expect(await networkOf(server, id)).toMatchObject({ mode: 'full', allow: [] });
  });

  it('is refused where it cannot be enforced, and follows a server that was narrowed since', async () => {
    const narrow = await testServer({ env: { RUNTIME: 'local', SANDBOX_NETWORK: 'allowlist' } });
    const refused = async (server: TestServer, body: unknown) => {
      const answer = await server.post('/api/settings', body);
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await refused(narrow, { sandbox_network: 'full' })).toEqual([400, expect.stringContaining('SANDBOX_NETWORK')]);
    expect(await refused(narrow, { sandbox_network_allow: ['https://x'] })).toEqual([400, expect.stringContaining('neither a name')]);
    expect((await narrow.get('/api/settings')).status).toBe(404);
    const open = await testServer();
    expect(await refused(open, { sandbox_network: 'allowlist' })).toEqual([400, expect.stringContaining('RUNTIME')]);
  });
});
