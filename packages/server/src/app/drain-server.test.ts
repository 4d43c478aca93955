import { expect, it } from 'vitest';
import { drainOnce, NOTICED_MS } from './drain-server.ts';
import { plainClient, socketIoClient, systemClockThat, testServer } from '../server.test-support.ts';

const ready = async (server: Awaited<ReturnType<typeof testServer>>) => {
  const answer = await server.get('/ready');
  return [answer.status, await answer.json()];
};

it('SV1250: a server whose storage answers is ready, without a key, and alive either way', async () => {
  const server = await testServer({ sessionApiKey: 'the-key-of-this-server' });
  const answer = await server.get('/ready');
  expect([answer.status, await answer.json(), answer.headers.get('cache-control')]).toEqual([200, { status: 'ready' }, 'no-store']);
  await server.engine.storage.close();
  await expect.poll(() => ready(server)).toEqual([503, { status: 'unready', reason: 'storage' }]);
  expect((await server.get('/alive')).status).toBe(200);
});

it('SV1251: a server that drains is not ready, begins no conversation, and serves those that there are', async () => {
  const server = await testServer();
  const id = await server.create();
  server.engine.readiness.beginDraining();
  expect(await ready(server)).toEqual([503, { status: 'unready', reason: 'draining' }]);
  const refused = await server.post('/api/conversations', { initial_user_msg: 'hello' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  const nameless = await plainClient(server);
  nameless.send({ action: 'initialize', args: {} });
  nameless.send({ action: 'start', args: { task: 'hello' } });
  await nameless.frames.until((frame) => JSON.stringify(frame).includes('begins no new conversation'), 'the refusal');
  expect((await server.get(`/api/conversations/${id}`)).status).toBe(200);
});

it('SV1252: a server that has drained hangs up so that clients connect anew', async () => {
  // Only the wait for load balancers is short: a ping that is due a hundred times sooner would cut a client off on a busy machine.
  const server = await testServer({ clock: systemClockThat((ms) => (ms === NOTICED_MS ? 0 : ms)) });
  const conversation_id = await server.create();
  const socketIo = await socketIoClient(server, { conversation_id });
  const plain = await plainClient(server, `?conversation_id=${conversation_id}`);
  const left = new Promise((resolve) => socketIo.socket.once('disconnect', resolve));
  expect(await (await server.post('/cluster/drain')).json()).toEqual({ status: 'drained' });
  expect(await plain.closed).toBe(1001);
  // Its library stays away after `io server disconnect`.
  expect(await left).toMatch(/^transport (close|error)$/);
  expect((await server.get('/alive')).status).toBe(200);
});

it('SV1252: draining takes no longer than its time, and many callers drain once', async () => {
  const server = await testServer({ env: { TENDON_DRAIN_SECONDS: '0' } });
  await Promise.all([server.drain(), server.drain(), server.post('/cluster/drain')]);
  expect(await ready(server)).toEqual([503, { status: 'unready', reason: 'draining' }]);
});

it('SV1234: what it works on is handed over when load balancers have noticed, so that its clients do not come back to it', async () => {
  const done: string[] = [];
  const step = (name: string) => async () => void done.push(name);
  const noticed = Promise.withResolvers<void>();
  const drain = drainOnce({
    readiness: { beginDraining: () => void done.push('not ready') },
    clock: { now: () => new Date(0), sleep: (ms) => (ms < 20_000 ? noticed.promise : new Promise(() => undefined)) },
    seconds: 20,
    retire: step('retired'),
    handOver: step('handed over'),
    hangUp: () => void done.push('hung up'),
  });
  const drained = drain();
  await expect.poll(() => done).toEqual(['not ready', 'retired']);
  noticed.resolve();
  await drained;
  expect(done).toEqual(['not ready', 'retired', 'handed over', 'hung up']);
});
