import { itInFull, someOf } from '@tendon/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { heapBytes } from '../collect-garbage.test-support.ts';
import { SLOW_CLIENT_MS } from './event-stream.ts';
import { socketIoClient, systemClockThat, testServer, type TestServer, type WireFrame } from '../server.test-support.ts';

const LARGE = 'x'.repeat(200_000);
/** Of a past of far more than 1 MiB, for a client that polls, and of more than the operating system takes, too. */
const [LONG, LONGER] = [12, 60];
const script = Array.from({ length: LONGER }, () => ({ text: LARGE }));
/** Of one frame of the flood; refused, and so answered, as no action of any kind. */
const FRAME_BYTES = 1 << 20;
const FLOOD = 100;
/** The memory of waiting frames, of the one body that was read before the pause, and of their parsed values. */
const MOST_BYTES = 16 << 20;
const frame = (count: number) => ({ action: `flood ${count}`, args: { padding: 'y'.repeat(FRAME_BYTES) } });

/** A server, and a promise that resolves when a client has as much unread as it may have: from then on its frames wait. */
async function slowServer() {
  const stalled = Promise.withResolvers<void>();
  const clock = systemClockThat((ms) => {
    if (ms !== SLOW_CLIENT_MS) return ms;
    stalled.resolve();
    // No client is disconnected for slowness here, however busy the machine is.
    return 10 * ms;
  });
  return { server: await testServer({ script, clock }), stalled: stalled.promise };
}

/** A conversation with a longer past than is sent to a client that does not read. */
async function large(server: TestServer, turns = LONG): Promise<string> {
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id });
  for (let turn = 0; turn < turns; turn++) await client.ask(`turn ${turn}`);
  client.socket.close();
  return id;
}

/** A client that polls by hand: it sends without reading. */
async function polling(server: TestServer, query: string) {
  const base = `${server.url}/socket.io/?EIO=4&transport=polling&${query}`;
  const { sid } = JSON.parse((await (await fetch(base)).text()).slice(1)) as { sid: string };
  const url = `${base}&sid=${sid}`;
  const post = async (body: string): Promise<number> =>
    (await fetch(url, { method: 'POST', body, headers: { 'content-type': 'text/plain' } })).status;
  const emit = (...frames: readonly object[]) => frames.map((one) => `42${JSON.stringify(['oh_user_action', one])}`).join('\u001e');
  const poll = async (): Promise<readonly WireFrame[]> => {
    const packets = (await (await fetch(url)).text()).split('\u001e');
    if (packets.includes('2')) await post('3');
    return packets.flatMap((packet) => (packet.startsWith('42') ? [(JSON.parse(packet.slice(2)) as [string, WireFrame])[1]] : []));
  };
  expect(await post('40')).toBe(200);
  return { post, poll, emit };
}

/** Waits until the server has answered several later requests: everything that could proceed has proceeded by then. */
async function settled(server: TestServer): Promise<void> {
  for (let count = 0; count < 100; count++) await server.get('/alive');
}

const isRefusal = (one: WireFrame): boolean => one.code === 'UNKNOWN_ACTION';

describe('SV195: a client that sends faster than the server handles', () => {
  itInFull('by polling is paused, in bounded memory, and gets an answer to every frame when it reads', async () => {
    const { server, stalled } = await slowServer();
    const id = await large(server);
    const client = await polling(server, `conversation_id=${id}`);
    await stalled;
    const before = heapBytes();
    let taken = 0;
    const flood = (async () => {
      for (let count = 0; count < FLOOD; count++) {
        expect(await client.post(client.emit(frame(count)))).toBe(200);
        taken += 1;
      }
    })();
    await settled(server);
    expect(taken * FRAME_BYTES).toBeLessThan(MOST_BYTES);
    expect(heapBytes() - before).toBeLessThan(4 * MOST_BYTES);

    let answered = 0;
    while (answered < FLOOD) answered += (await client.poll()).filter(isRefusal).length;
    await flood;
    expect(taken).toBe(FLOOD);
  });

  itInFull('by polling is refused a second request while one is held', async () => {
    const { server, stalled } = await slowServer();
    const client = await polling(server, `conversation_id=${await large(server)}`);
    await stalled;
    const first = Array.from({ length: 6 }, (_, count) => frame(count));
    expect(await client.post(client.emit(...first))).toBe(200);
    const held = client.post(client.emit(frame(7)));
    await settled(server);
    expect(await client.post(client.emit(frame(8)))).toBe(400);
    while (!(await client.poll()).some((one) => String(one.message).includes('flood 5'))) continue;
    expect(await held).toBe(200);
  });

  it('with far too many small frames in one request is disconnected', async () => {
    const { server, stalled } = await slowServer();
    const client = await polling(server, `conversation_id=${await large(server)}`);
    await stalled;
    const frames = Array.from({ length: 12_000 }, (_, count) => ({ action: `flood ${count}` }));
    await client.post(client.emit(...frames));
    await expect.poll(() => client.post(client.emit(frame(0)))).toBe(400);
  });

  itInFull('before its session has begun is paused as well', async () => {
    const { server, stalled } = await slowServer();
    const token = await tokenOf(server);
    const client = await polling(server, '');
    const initialize = `42${JSON.stringify(['oh_action', { action: 'initialize', args: {}, token, latest_event_id: -1 }])}`;
    // One request: the frames come before the token was read.
    expect(await client.post([initialize, client.emit(...Array.from({ length: 6 }, (_, count) => frame(count)))].join('\u001e'))).toBe(200);
    await stalled;
    let taken = 0;
    void (async () => {
      for (; taken < FLOOD; taken++) await client.post(client.emit(frame(10 + taken)));
    })().catch(() => undefined);
    await settled(server);
    expect(taken * FRAME_BYTES).toBeLessThan(MOST_BYTES);
  });

  it.each(
    someOf(
      [
        ['/ws', (id: string) => `/ws?conversation_id=${id}`, undefined, JSON.stringify],
        [
          'Socket.IO',
          (id: string) => `/socket.io/?EIO=4&transport=websocket&conversation_id=${id}`,
          '40',
          (one: unknown) => `42${JSON.stringify(['oh_user_action', one])}`,
        ],
      ] as const,
      1,
    ),
  )('over the WebSocket of %s is held up, in bounded memory', async (_name, path, hello, write) => {
    const { server, stalled } = await slowServer();
    const id = await large(server, LONGER);
    const socket = new WebSocket(server.url.replace('http', 'ws') + path(id));
    await new Promise((resolve) => socket.once('open', resolve));
    onTestFinished(() => socket.terminate());
    socket.pause();
    if (hello) socket.send(hello);
    await stalled;
    const before = heapBytes();
    for (let count = 0; count < FLOOD; count++) socket.send(write(frame(count)));
    await settled(server);
    // What is still here has not been taken there.
    expect(FLOOD * FRAME_BYTES - socket.bufferedAmount).toBeLessThan(2 * MOST_BYTES);
    expect(heapBytes() - before).toBeLessThan(FLOOD * FRAME_BYTES + 4 * MOST_BYTES);
  });
});

/** A session of 0.15 to 0.17 whose conversation has a long past. */
async function tokenOf(server: TestServer): Promise<string> {
  const client = await socketIoClient(server, {});
  client.send({ action: 'initialize', args: {} });
  const { token } = await client.frames.until((one) => typeof one.token === 'string');
  for (let turn = 0; turn < LONG; turn++) await client.ask(`turn ${turn}`);
  client.socket.close();
  return String(token);
}
