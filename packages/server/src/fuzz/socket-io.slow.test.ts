import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { socketIoClient, type SocketIoClient } from '../server.test-support.ts';
import { fuzzTarget, type FuzzTarget } from './fuzz-target.test-support.ts';
import { hostileText, SEED } from './hostile-values.test-support.ts';
import { emitted, packet } from './socket-io-frames.test-support.ts';

const EVERY = 20;
/** One client of each generation. */
async function generations(target: FuzzTarget): Promise<readonly SocketIoClient[]> {
  const inBand = await socketIoClient(target, {});
  inBand.socket.emit('oh_action', { action: 'initialize', args: { LLM_MODEL: '' } });
  await inBand.frames.until(({ token }) => typeof token === 'string');
  return [
    inBand,
    await socketIoClient(target, { conversation_id: await target.create(), latest_event_id: -1 }),
    await socketIoClient(target, { conversation_id: await target.create() }, { transports: ['polling'] }),
    await socketIoClient(target, { conversation_id: await target.create(), dialect: 'events-doc' }),
    await socketIoClient(target, { dialect: 'events-doc' }),
    await socketIoClient(target, {}),
  ];
}

it('SV91: whatever a Socket.IO client of any generation emits, its socket lives and is answered, and others do not notice', async () => {
  const target = await fuzzTarget();
  const clients = await generations(target);
  let sent = 0;
  const property = fc.asyncProperty(emitted, async ([name, values]) => {
    for (const { socket } of clients) socket.emit(name, ...values);
    if (++sent % EVERY === 0) await target.expectUnharmed();
  });
  await fc.assert(property, { numRuns: runs(80), seed: SEED, endOnFailure: true });
  for (const { socket, frames } of clients) {
    socket.emit('oh_user_action', { action: 'no_such_action_at_the_end' });
    await frames.until((shown) => JSON.stringify(shown).includes('no_such_action_at_the_end'));
    expect(socket.connected).toBe(true);
  }
  await target.expectUnharmed();
}, 300_000);

it('SV91: packets that no client library makes cost at most the socket they came by', async () => {
  const target = await fuzzTarget();
  const id = await target.create();
  let sent = 0;
  const property = fc.asyncProperty(fc.array(packet, { minLength: 1, maxLength: 6 }), fc.boolean(), async (packets, isIn) => {
    const socket = new WebSocket(`${target.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket&conversation_id=${id}`);
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('open', resolve));
    if (isIn) socket.send('40');
    for (const one of packets) socket.send(typeof one === 'string' ? one.toWellFormed() : one);
    await new Promise((resolve) => socket.once('close', resolve).close());
    if (++sent % EVERY === 0) await target.expectUnharmed();
  });
  await fc.assert(property, { numRuns: runs(80), seed: SEED, endOnFailure: true });
  await expect.poll(() => target.engine.conversations.connections(id)).toBe(0);
  await target.expectUnharmed();
}, 300_000);

const query = fc
  .array(
    fc.tuple(fc.oneof(fc.constantFrom('EIO', 'transport', 'sid', 'conversation_id', 'latest_event_id', 't'), hostileText), hostileText),
    {
      maxLength: 5,
    },
  )
  .map((pairs) => new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value.slice(0, 2_000)])).toString());

it('SV91: polls with any query and body are answered below 500', async () => {
  const target = await fuzzTarget();
  const bodies = fc.oneof(packet, fc.constantFrom('40\u001e40\u001e41', '\u001e'.repeat(10_000), 'b!!!!', `42${'['.repeat(50_000)}`));
  let sent = 0;
  const property = fc.asyncProperty(query, bodies, fc.constantFrom('GET', 'POST', 'PUT'), async (asked, body, method) => {
    const opened = await target.get('/socket.io/?EIO=4&transport=polling');
    const { sid } = JSON.parse((await opened.text()).slice(1)) as { sid: string };
    // A GET of an open session is answered by the next packet only.
    const given = method === 'GET' ? asked : `${asked}&EIO=4&transport=polling&sid=${sid}`;
    const init = method === 'GET' ? { method } : { method, body: typeof body === 'string' ? body : Buffer.from(body) };
    const { status } = await fetch(`${target.url}/socket.io/?${given}`, init);
    expect(status, `${method} ${given}`).toBeLessThan(500);
    if (++sent % EVERY === 0) await target.expectUnharmed();
  });
  await fc.assert(property, { numRuns: runs(60), seed: SEED, endOnFailure: true });
  await target.expectUnharmed();
}, 300_000);
