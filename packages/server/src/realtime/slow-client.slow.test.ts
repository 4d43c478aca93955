import { itInFull, someOf } from '@tendon/testing';
import { openhandsV0, type Frame } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Connection } from './connection.ts';
import { MAX_UNSENT_BYTES, SLOW_CLIENT_MS } from './event-stream.ts';
import { createLogger } from '../platform/logger.ts';
import { createMask } from '@tendon/protocol/masking';
import { socketIoClient, systemClockThat, testServer, type TestServer } from '../server.test-support.ts';
import { Unsent, type Wire } from './wire.ts';
import { systemClock } from '../platform/system-clock.ts';

const LARGE = 'x'.repeat(200_000);
/** Far more than 1 MiB and what the operating system takes. */
const TURNS = 60;
const script = Array.from({ length: TURNS }, () => ({ text: LARGE }));

/** A conversation with 12 MB behind it. */
async function large(server: TestServer): Promise<string> {
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id });
  for (let turn = 0; turn < TURNS; turn++) await client.ask(`turn ${turn}`);
  client.socket.close();
  return id;
}

/** A wire whose other side takes only what the test lets it take. */
function hoardingWire() {
  const frames: Frame[] = [];
  let most = 0;
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  const wire: Wire = {
    send(frame) {
      frames.push(frame);
      unsent.add(JSON.stringify(frame).length);
      most = Math.max(most, unsent.bytes);
    },
    carriesVolatile: false,
    sendVolatile() {},
    unsent,
    pauseReading() {},
    resumeReading() {},
    close: () => closed.abort(),
    closed: closed.signal,
  };
  return { wire, frames, most: () => most, takeAll: () => unsent.add(-unsent.bytes) };
}

/** Asks for everything over a real socket and reads nothing. */
async function deaf(server: TestServer, path: string, hello: string | undefined): Promise<WebSocket> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.pause();
  if (hello !== undefined) socket.send(hello);
  return socket;
}

describe('SV17: a client that does not read', () => {
  itInFull('has at most 1 MiB and a frame under way, and gets the rest in order when it reads again', async () => {
    const server = await testServer({ script });
    const id = await large(server);
    const { wire, frames, most, takeAll } = hoardingWire();
    const logger = createLogger({ level: 'silent', mask: createMask([]) });
    const { conversations } = server.engine;
    const connection = new Connection({ wire, dialect: openhandsV0, conversations, clock: systemClock, logger });
    await connection.attach(id, 0);
    const { nextId } = (await conversations.log(id))!;
    const lastMessage = () => Number(frames.findLast((frame) => frame.action === 'message')?.id ?? -1);
    while (lastMessage() < nextId - 2) {
      takeAll();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(most()).toBeLessThan(MAX_UNSENT_BYTES + 2 * LARGE.length);
    const ids = frames.filter((frame) => 'id' in frame && frame.observation !== 'agent_state_changed').map((frame) => Number(frame.id));
    expect(ids.length).toBeGreaterThan(2 * TURNS);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    wire.close('');
  });

  it.each(
    someOf(
      [
        ['/ws', '/ws?', undefined],
        ['Socket.IO', '/socket.io/?EIO=4&transport=websocket&', '40'],
      ] as const,
      1,
    ),
  )('is sent away when its time is up, on %s', async (_door, path, hello) => {
    const waited: number[] = [];
    const clock = systemClockThat((ms) => {
      waited.push(ms);
      return ms === SLOW_CLIENT_MS ? 0 : ms;
    });
    const server = await testServer({ script, clock });
    const id = await large(server);
    const socket = await deaf(server, `${path}conversation_id=${id}`, hello);
    await expect.poll(() => waited).toContain(SLOW_CLIENT_MS);
    await expect.poll(() => server.engine.conversations.connections(id)).toBe(0);
    socket.terminate();
  });
});
