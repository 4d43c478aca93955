import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { plainClient, testServer, type PlainClient, type TestServer } from '../../../server.test-support.ts';
import { authToken, FOUR, initialized, message, wsClient } from './ws-client.test-support.ts';

/** Many cases: the default of a quick test leaves them no room on a busy machine. */
const script = Array.from({ length: 200 }, (_, index) => ({ text: `answer ${index}` }));

const KINDS =
  'initialize start chat message user_message change_task_state change_agent_state run kill read write browse finish recall think system null __proto__ constructor'.split(
    ' ',
  );
const KEYS =
  'task content message agent_state task_state_action command path LLM_MODEL LLM_API_KEY CONFIRMATION_MODE MAX_ITERATIONS WORKSPACE_BASE images_urls timestamp __proto__'.split(
    ' ',
  );
const value = fc.oneof(fc.jsonValue(), fc.constantFrom('', 'null', 'None', 'running', 'pause', 'a'.repeat(100_000), '\u0000', '\uD800'));
const args = fc.oneof(value, fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 4 }));
const frame = fc.oneof(
  fc.string(),
  fc.json(),
  fc.record({ action: fc.oneof(fc.constantFrom(...KINDS), value), args }, { requiredKeys: [] }).map((given) => JSON.stringify(given)),
);

/** One client of every endpoint. */
async function everyClient(server: TestServer): Promise<PlainClient[]> {
  const first = await wsClient(server);
  const token = await initialized(first, { ...FOUR, CONFIRMATION_MODE: false });
  return Promise.all([
    first,
    wsClient(server),
    wsClient(server, `?token=${token}&latest_event_id=2`),
    wsClient(server, `?token=${await authToken(server)}`),
    wsClient(server, '', ['openhands', 'NO_JWT', 'NO_GITHUB']),
  ]);
}

describe('DL89: whatever frames come', () => {
  itInFull('the sockets live, and others do not notice', async () => {
    const server = await testServer({ script });
    const bystander = await wsClient(server);
    await initialized(bystander, { ...FOUR, CONFIRMATION_MODE: false });
    const clients = await everyClient(server);
    await fc.assert(
      fc.asyncProperty(frame, async (text) => {
        for (const client of clients) client.send(text);
        expect((await server.get('/alive')).ok).toBe(true);
      }),
      { numRuns: 150 },
    );
    bystander.send(message('still there?'));
    await bystander.frames.until((shown) => shown.message === 'answer 0');
    for (const client of clients) {
      client.send('{"action":"no_such_action_at_the_end"}');
      await client.frames.until((shown) => String(shown.message).includes('no_such_action_at_the_end'));
      expect(client.socket.readyState).toBe(client.socket.OPEN);
    }
  });

  it.each(['{', '[]', 'null', '"x"', '{"action":"fly"}', '{"action":"message","args":{"content":7}}', '{"action":"start"}'])(
    '%s is answered at every endpoint',
    async (text) => {
      const server = await testServer({ script });
      for (const client of await everyClient(server)) {
        client.send(text);
        expect(await client.frames.until((shown) => shown.error === true)).toEqual({ error: true, message: expect.any(String) as string });
      }
    },
  );

  it('hundreds of frames before the handshake is through are taken in order', async () => {
    const server = await testServer({ script });
    const client = await plainClient(server);
    for (let index = 0; index < 300; index++) client.send({ action: `kind-${index}` });
    await client.frames.until((shown) => String(shown.message).includes('kind-299'));
    const kinds = client.frames.all.map((shown) => /kind-(\d+)/.exec(String(shown.message))?.[1]).filter((kind) => kind !== undefined);
    expect(kinds).toEqual(Array.from({ length: 300 }, (_, index) => String(index)));
  });

  it('queries and subprotocols that nobody would send', async () => {
    const server = await testServer();
    const token = 'x'.repeat(7_000);
    for (const query of [
      `?token=${token}`,
      '?token[]=1&token=2',
      '?token=%00',
      '?token=..%2f..',
      '?latest_event_id=NaN&token=%F0%9F%92%A9',
    ]) {
      const client = await wsClient(server, query);
      expect(await client.closed).toBe(1008);
    }
    for (const protocols of [
      ['openhands', 'a', 'b', 'c'],
      ['openhands', '__proto__', 'constructor'],
    ]) {
      expect(await (await wsClient(server, '', protocols)).closed).toBe(1008);
    }
    expect((await server.get('/alive')).ok).toBe(true);
  });
});
