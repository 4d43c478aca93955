import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { plainClient } from '../server.test-support.ts';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { rawConnection, upgradeRequest } from './raw-connection.test-support.ts';

const ENDPOINTS = ['/ws', '/socket.io/?EIO=4&transport=websocket'] as const;
const LIMIT = 20 * 1024 * 1024;
const TEXT = 0x81;
const COMPRESSED_TEXT = 0xc1;

/** A masked frame, as clients send them; the mask is zero. */
function frame(head: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const size = length < 126 ? Buffer.from([0x80 | length]) : Buffer.from([0xff, ...eightBytes(length)]);
  return Buffer.concat([Buffer.from([head]), size, Buffer.alloc(4), payload]);
}

function eightBytes(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

const malformed: Readonly<Record<string, Uint8Array>> = {
  'a frame without a mask': Buffer.from([TEXT, 2, 0x7b, 0x7d]),
  'reserved bits': frame(0xf1, Buffer.from('{}')),
  'a compressed frame that nobody agreed on': frame(COMPRESSED_TEXT, deflateRawSync(Buffer.alloc(50 * 1024 * 1024))),
  'a reserved kind': frame(0x83, Buffer.from('{}')),
  'a ping in pieces': frame(0x09, Buffer.from('x')),
  'a ping that is too long': frame(0x89, Buffer.alloc(200)),
  'a piece without a beginning': frame(0x80, Buffer.from('x')),
  'invalid UTF-8': frame(TEXT, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  'a cut surrogate': frame(TEXT, Buffer.from([0xed, 0xa0, 0x80])),
  'a close without a reason to be': frame(0x88, Buffer.from([0x03])),
  'eight exabytes announced': Buffer.from([TEXT, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
  'one byte more than may be': Buffer.from([TEXT, 0xff, ...eightBytes(LIMIT + 1), 0, 0, 0, 0]),
};

describe.each(ENDPOINTS)('SV92: at %s', (path) => {
  it('bytes that are no WebSocket cost the socket they came by and nothing else', async () => {
    const target = await fuzzTarget();
    for (const [name, bytes] of Object.entries(malformed)) {
      const raw = rawConnection(target.url);
      raw.write(upgradeRequest(path, 'Sec-WebSocket-Extensions: permessage-deflate\r\n'));
      await expect.poll(() => raw.received, { message: name }).toContain('101 Switching');
      // Nothing is ever inflated here, so nothing can swell.
      expect(raw.received.toLowerCase()).not.toContain('permessage-deflate');
      raw.write(bytes);
      await raw.closed;
    }
    await target.expectUnharmed();
  });

  it('noise is survived', async () => {
    const target = await fuzzTarget();
    const noise = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(noise, async (pieces) => {
        const raw = rawConnection(target.url);
        raw.write(upgradeRequest(path));
        for (const piece of pieces) raw.write(piece);
        raw.socket.end();
        await raw.closed;
      }),
      { numRuns: runs(60), seed: SEED, endOnFailure: true },
    );
    await target.expectUnharmed();
  });

  it('clients that are cut off in the middle of everything are forgotten', async () => {
    const target = await fuzzTarget();
    const id = await target.create();
    const address = `${path}${path.includes('?') ? '&' : '?'}conversation_id=${id}`;
    const request = upgradeRequest(address);
    const all = Buffer.concat([Buffer.from(request), frame(TEXT, Buffer.from('40')), frame(TEXT, Buffer.from('{"action":"message"}'))]);
    for (let cut = 1; cut <= all.length; cut += 7) {
      const raw = rawConnection(target.url);
      raw.write(all.subarray(0, cut));
      await expect.poll(() => cut < request.length || raw.received.includes('101 Switching')).toBe(true);
      raw.socket.resetAndDestroy();
    }
    await expect.poll(() => target.engine.conversations.connections(id)).toBe(0);
    await target.expectUnharmed();
  });
});

describe('SV92: large frames', () => {
  itInFull('one of 20 MB is answered in words, and several at once do not stay in memory', async () => {
    const target = await fuzzTarget();
    const text = JSON.stringify({ action: 'no_such_action', args: { content: 'x'.repeat(LIMIT - 100) } });
    for (let round = 0; round < 2; round++) {
      const clients = await Promise.all([plainClient(target), plainClient(target)]);
      for (const client of clients) client.send(text);
      for (const { frames, socket } of clients) {
        expect(await frames.until(({ error }) => error === true)).toMatchObject({ message: expect.stringContaining('no_such_action') });
        socket.close();
      }
    }
    await target.expectUnharmed();
  });

  it.each(ENDPOINTS)('a message that grows piece by piece beyond 20 MB is not collected, at %s', async (path) => {
    const target = await fuzzTarget();
    const socket = new WebSocket(target.url.replace('http', 'ws') + path);
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    for (let piece = 0; piece < 25; piece++) socket.send('x'.repeat(1024 * 1024), { fin: false });
    expect([1006, 1009]).toContain(await closed);
    await target.expectUnharmed();
  });
});
