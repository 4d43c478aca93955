import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { anyCharacter, itInFull, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { HOSTILE_HOSTS } from './hostile-hosts.test-support.ts';
import { HOSTILE_TEXTS, SEED } from './hostile-values.test-support.ts';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { rawConnection } from './raw-connection.test-support.ts';

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

async function answerTo(url: string, bytes: string | Uint8Array): Promise<string> {
  const raw = rawConnection(url);
  raw.write(bytes);
  return raw.closed;
}

describe('SV93: requests that no client makes', () => {
  it.each(['/api/conversations', '/alive', '/', '/socket.io/?EIO=4&transport=polling'])(
    'no trick with Host gets in at %s',
    async (path) => {
      const target = await fuzzTarget();
      for (const host of HOSTILE_HOSTS) {
        const answer = await answerTo(target.url, `GET ${path} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
        // 401: it names a preview, which is locked.
        expect([400, 401, 403, 404], `${host}: ${answer.slice(0, 200)}`).toContain(statusOf(answer));
        expect(answer).not.toMatch(/"results"|"status":"ok"|"sid"/);
      }
      await target.expectUnharmed();
    },
  );

  it('the absolute form of an address does not choose the host', async () => {
    const target = await fuzzTarget();
    for (const line of ['GET http://localhost/api/conversations', 'GET //evil.example/api/conversations', 'CONNECT evil.example:443']) {
      const answer = await answerTo(target.url, `${line} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
      expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
    }
    await target.expectUnharmed();
  });

  it('lengths that contradict each other are refused, and what is smuggled behind them is not served', async () => {
    const target = await fuzzTarget();
    const smuggled = 'DELETE /api/settings HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const post = 'POST /api/conversations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    for (const lengths of [
      'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
      'Content-Length: 2\r\nContent-Length: 60\r\n',
      'Transfer-Encoding: identity, chunked, identity\r\n',
      'Transfer-Encoding: xchunked\r\n',
      'Content-Length: -1\r\n',
      'Content-Length: 0x10\r\n',
      'Content-Length : 5\r\n',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    ]) {
      const answer = await answerTo(target.url, `${post}${lengths}\r\n0\r\n\r\n${smuggled}`);
      expect(statusOf(answer), lengths).toBe(400);
      expect(answer.match(/HTTP\/1\.1/g), lengths).toHaveLength(1);
    }
    await target.expectUnharmed();
  });

  it('any bytes in any part of a request are survived', async () => {
    const target = await fuzzTarget();
    const noise = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: anyCharacter, maxLength: 40 }));
    const parts = fc.tuple(fc.constantFrom('GET', 'POST', 'PATCH', 'M-SEARCH'), noise, noise, noise, noise);
    await fc.assert(
      fc.asyncProperty(parts, async ([method, path, name, value, body]) => {
        const head = `${method} /api/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n`;
        const answer = await answerTo(target.url, Buffer.from(`${head}${name}: ${value}\r\n\r\n${body}\r\n\r\n`, 'latin1'));
        expect(statusOf(answer) >= 500, answer.slice(0, 300)).toBe(false);
      }),
      { numRuns: runs(200), seed: SEED, endOnFailure: true },
    );
    await target.expectUnharmed();
  }, 300_000);
});

describe('SV94: clients that take their time', () => {
  it('hundreds that never finish what they say keep nobody out, and are forgotten when they go', async () => {
    const { url, expectUnharmed } = await fuzzTarget();
    const beginnings = [
      '',
      'GET /api/conv',
      'GET /alive HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
      'POST /api/conversations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
      'POST /api/conversations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n{',
      'POST /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n4',
      'GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n',
    ];
    const slow = Array.from({ length: 300 }, (_, index) => {
      const raw = rawConnection(url);
      raw.write(beginnings[index % beginnings.length]!);
      return raw;
    });
    await expectUnharmed();
    for (const [index, { socket }] of slow.entries()) {
      if (index % 3 === 0) socket.end();
      else if (index % 3 === 1) socket.resetAndDestroy();
      else socket.destroy();
    }
    await expectUnharmed();
  });

  itInFull('one that asks and does not read does not stop the others', async () => {
    const { url, expectUnharmed } = await fuzzTarget();
    const deaf = Array.from({ length: 10 }, () => {
      const raw = rawConnection(url);
      raw.socket.pause();
      for (let request = 0; request < 20; request++) raw.write('GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
      return raw;
    });
    await expectUnharmed();
    for (const { socket } of deaf) socket.resetAndDestroy();
    await expectUnharmed();
  });
});

describe('SV95: bodies that swell', () => {
  const BOMB = gzipSync(Buffer.from(JSON.stringify({ initial_user_msg: ' '.repeat(200 * 1024 * 1024) })), { level: 1 });

  it.each(['gzip', 'deflate', 'br', 'gzip, gzip', 'identity, gzip'])('a body with content-encoding %s is not unpacked', async (coding) => {
    const target = await fuzzTarget();
    for (const path of ['/api/conversations', '/api/settings', '/api/secrets']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const { status } = await fetch(target.url + path, { method: 'POST', headers, body: BOMB });
      expect(status).toBe(415);
    }
    await target.expectUnharmed();
  });

  it('a body longer than 20 MB is refused, announced or not', async () => {
    const target = await fuzzTarget();
    const piece = Buffer.alloc(1024 * 1024, 0x20);
    const post = 'POST /api/conversations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    expect(statusOf(await answerTo(target.url, `${post}Content-Length: ${30 * 1024 * 1024}\r\nConnection: close\r\n\r\n`))).toBe(413);
    const raw = rawConnection(target.url);
    raw.write(`${post}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`);
    for (let sent = 0; sent < 30 && !raw.isClosed; sent++)
      raw.write(Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')]));
    await expect.poll(() => statusOf(raw.received)).toBe(413);
    raw.socket.destroy();
    await target.expectUnharmed();
  });
});
