/** What no endpoint is sent in `http`, `rest`, `raw-frames` and `socket-io`: the same tricks at every endpoint. */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { plainClient, socketIoClient } from '../server.test-support.ts';
import { fuzzTarget, type FuzzTarget } from './fuzz-target.test-support.ts';
import { hostileValue, SEED } from './hostile-values.test-support.ts';
import { HOSTILE_HOSTS } from './hostile-hosts.test-support.ts';
import { rawConnection, upgradeRequest } from './raw-connection.test-support.ts';

const MIB = 1024 ** 2;
const UPGRADES = ['/ws', '/ws?conversation_id=x', '/socket.io/?EIO=4&transport=websocket'];
const POLLING = '/socket.io/?EIO=4&transport=polling';

const BOMB = gzipSync(Buffer.alloc(60 * MIB, 0x34), { level: 1 });

async function openedPoll(target: FuzzTarget): Promise<string> {
  const { sid } = JSON.parse((await (await target.get(POLLING)).text()).slice(1)) as { sid: string };
  return `${target.url}${POLLING}&sid=${sid}`;
}

describe('SV135: what one endpoint refuses, every endpoint refuses', () => {
  it.each(UPGRADES)('no trick with Host or Origin upgrades at %s', async (path) => {
    const target = await fuzzTarget();
    const origins = ['http://evil.example', 'null', 'http://localhost.evil.example', `http://3000-${'a'.repeat(32)}.localhost`, 'file://'];
    const requests = [
      ...HOSTILE_HOSTS.map((host) => upgradeRequest(path).replace('Host: localhost', host)),
      ...origins.map((origin) => upgradeRequest(path, `Origin: ${origin}\r\n`)),
      upgradeRequest(path, 'Origin: http://localhost\r\nOrigin: http://evil.example\r\n'),
    ];
    for (const request of requests) {
      const raw = rawConnection(target.url);
      raw.write(request);
      await expect.poll(() => raw.received || raw.isClosed, { message: request }).toBeTruthy();
      expect(raw.received.slice(0, 200), request).not.toContain('101 Switching');
      raw.socket.destroy();
    }
    await target.expectUnharmed();
  });

  it('a polled body is not unpacked, and one above 20 MB is not collected', async () => {
    const target = await fuzzTarget();
    for (const coding of ['gzip', 'br', 'deflate']) {
      const headers = { 'content-encoding': coding };
      const { status } = await fetch(await openedPoll(target), { method: 'POST', headers, body: BOMB });
      expect(status).toBeLessThan(500);
    }
    const large = await fetch(await openedPoll(target), { method: 'POST', body: `4${'x'.repeat(21 * MIB)}` }).catch(() => ({
      status: 413,
    }));
    expect(large.status).toBe(413);
    await target.expectUnharmed();
  });

  it('a polled body that is no UTF-8 costs at most its own session', async () => {
    const target = await fuzzTarget();
    for (const bytes of [[0x34, 0xff, 0xfe], [0x34, 0x32, 0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x1e, 0x1e], [0]]) {
      const { status } = await fetch(await openedPoll(target), { method: 'POST', body: new Uint8Array(bytes) });
      expect(status).toBeLessThan(500);
    }
    await target.expectUnharmed();
  });

  itInFull('a frame of 20 MB is answered in words over Socket.IO, and a longer one ends its socket', async () => {
    const target = await fuzzTarget();
    const content = 'x'.repeat(20 * MIB - 200);
    const client = await socketIoClient(target, { conversation_id: await target.create() });
    client.send({ action: 'no_such_action', args: { content } });
    await client.frames.until(({ message }) => String(message).includes('no_such_action'));
    const gone = new Promise((resolve) => client.socket.once('disconnect', resolve));
    client.send({ action: 'no_such_action', args: { content: content + content } });
    expect(await gone).toBe('transport close');
    await target.expectUnharmed();
  });

  it('any JSON at /ws, also what would pollute a prototype, is answered and the socket lives', async () => {
    const target = await fuzzTarget();
    const { frames, send, socket } = await plainClient(target);
    let sent = 0;
    const property = fc.asyncProperty(hostileValue, hostileValue, async (value, args) => {
      send(`{"action":"message","__proto__":{"polluted":1},"args":${JSON.stringify(args) ?? 'null'}}`);
      send(JSON.stringify(value) ?? 'null');
      if (++sent % 20 === 0) await target.expectUnharmed();
    });
    await fc.assert(property, { numRuns: runs(100), seed: SEED, endOnFailure: true });
    send({ action: 'no_such_action_at_the_end' });
    await frames.until((shown) => JSON.stringify(shown).includes('no_such_action_at_the_end'));
    expect(socket.readyState).toBe(socket.OPEN);
    await target.expectUnharmed();
  });
});
