/** Clients that stop in the middle, at every endpoint. The server waits for them a fraction of a second here, and then hangs up by itself. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { fuzzTarget, type FuzzTarget } from './fuzz-target.test-support.ts';
import { rawConnection, upgradeRequest, type RawConnection } from './raw-connection.test-support.ts';

/** Long enough for the neighbours of a busy machine. */
const TIMEOUTS = {
  headersMs: 2_000,
  requestMs: 3_000,
  checkMs: 100,
  connectMs: 1_000,
  firstFrameMs: 1_000,
  upgradeMs: 1_000,
  pingMs: 1_000,
  pongMs: 5_000,
  closeMs: 500,
};
const AT_ONCE = 8;
const WAIT = { timeout: 40_000 };

const POST = 'HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const SOCKET_IO = '/socket.io/?EIO=4&transport=websocket';
const TEXT = 0x81;

/** What is sent at once, and then a byte at a time for as long as the connection lasts; nothing, when there is no drip. */
interface Loris {
  readonly start: string | Buffer;
  readonly drip?: string | Buffer;
}

const NEVER_ENDING: Readonly<Record<string, Loris>> = {
  'a connection that says nothing': { start: '' },
  'half a request line': { start: 'GET /api/conv' },
  'headers without end': { start: 'GET /alive HTTP/1.1\r\nHost: localhost\r\n', drip: 'x' },
  'headers without end, line by line': { start: 'GET /alive HTTP/1.1\r\nHost: localhost\r\n', drip: 'X-A: b\r\n' },
  'a body that does not come': { start: `POST /api/conversations ${POST}Content-Length: 1000\r\n\r\n` },
  'a body byte by byte': { start: `POST /api/conversations ${POST}Content-Length: 100000\r\n\r\n{`, drip: ' ' },
  'chunks without end': { start: `POST /api/settings ${POST}Transfer-Encoding: chunked\r\n\r\n`, drip: '1\r\n \r\n' },
  'an upload byte by byte': {
    start:
      'POST /api/upload-files HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n--x',
    drip: 'x',
  },
  'half an upgrade to /ws': { start: upgradeRequest('/ws').slice(0, -2) },
  'half an upgrade to Socket.IO': { start: upgradeRequest(SOCKET_IO).slice(0, -2), drip: 'X-A: b\r\n' },
  'half an upgrade of a preview': {
    start: 'GET / HTTP/1.1\r\nHost: 3000-0123456789abcdef0123456789abcdef.localhost\r\nUpgrade: websocket\r\n',
  },
  'a poll byte by byte': { start: `POST /socket.io/?EIO=4&transport=polling ${POST}Content-Length: 1000\r\n\r\n`, drip: '4' },
  'an upgraded Socket.IO that does not connect': { start: upgradeRequest(SOCKET_IO) },
  'a /ws that gives no sign of life': { start: upgradeRequest('/ws') },
  'a /ws whose frame does not end': {
    start: Buffer.concat([Buffer.from(upgradeRequest('/ws')), Buffer.from([TEXT, 0xfe, 0xff, 0xff, 0, 0, 0, 0])]),
    drip: 'x',
  },
};

function begin({ url }: FuzzTarget, { start, drip }: Loris): RawConnection {
  const raw = rawConnection(url);
  raw.write(start);
  if (drip === undefined) return raw;
  const dripping = setInterval(() => raw.isClosed || raw.write(drip), 50);
  onTestFinished(() => clearInterval(dripping));
  return raw;
}

describe('SV134: a client that stops in the middle', () => {
  it('is let go by the server, whatever it stopped in, and others do not notice', async () => {
    const target = await fuzzTarget({}, { timeouts: TIMEOUTS });
    await target.expectUnharmed();
    const before = target.openSockets();
    const slow = Object.entries(NEVER_ENDING).flatMap(([what, loris]) =>
      Array.from({ length: AT_ONCE }, () => ({ what, raw: begin(target, loris) })),
    );
    await target.expectUnharmed();
    await expect.poll(() => new Set(slow.flatMap(({ what, raw }) => (raw.isClosed ? [] : [what]))), WAIT).toEqual(new Set());
    await expect.poll(() => target.openSockets(), WAIT).toBeLessThanOrEqual(before);
    await target.expectUnharmed();
  });

  itInFull('is let go when it answers no ping of Socket.IO', async () => {
    const target = await fuzzTarget({}, { timeouts: TIMEOUTS });
    const id = await target.create();
    const slow = Array.from({ length: AT_ONCE }, () => {
      const raw = rawConnection(target.url);
      raw.write(
        Buffer.concat([
          Buffer.from(upgradeRequest(`${SOCKET_IO}&conversation_id=${id}`)),
          Buffer.from([TEXT, 0x82, 0, 0, 0, 0, 0x34, 0x30]),
        ]),
      );
      return raw;
    });
    await expect.poll(() => target.engine.conversations.connections(id), WAIT).toBe(AT_ONCE);
    await expect.poll(() => slow.filter(({ isClosed }) => isClosed).length, WAIT).toBe(AT_ONCE);
    await expect.poll(() => target.engine.conversations.connections(id), WAIT).toBe(0);
    await target.expectUnharmed();
  });

  itInFull('is let go when it polled once and did not come again, or began to upgrade and did not go on', async () => {
    const target = await fuzzTarget({}, { timeouts: TIMEOUTS });
    const id = await target.create();
    const polling = `/socket.io/?EIO=4&transport=polling&conversation_id=${id}`;
    const sids: string[] = [];
    for (let client = 0; client < AT_ONCE; client++) {
      const { sid } = JSON.parse((await (await target.get(polling)).text()).slice(1)) as { sid: string };
      sids.push(sid);
      if (client % 2 === 0) await fetch(`${target.url}${polling}&sid=${sid}`, { method: 'POST', body: '40' });
      if (client % 4 === 0) begin(target, { start: upgradeRequest(`${SOCKET_IO}&sid=${sid}`) });
    }
    for (const sid of sids) {
      // A packet that says nothing is no sign of life.
      const forgotten = async (): Promise<number> =>
        (await fetch(`${target.url}${polling}&sid=${sid}`, { method: 'POST', body: '6' })).status;
      await expect.poll(forgotten, WAIT).toBe(400);
    }
    await expect.poll(() => target.engine.conversations.connections(id), WAIT).toBe(0);
    await target.expectUnharmed();
  });
});
