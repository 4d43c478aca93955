/** A client that reaches the listener of an executor, and does what no server does. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Runtime } from '@tendon/core';
import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run, type TestSandboxes } from '@tendon/runtime/testing';
import { startExecutor, type TestExecutor } from '../../packages/executor/src/testing/start-executor.ts';
import { hostileText, hostileValue, SEED } from '../../packages/server/src/fuzz/hostile-values.test-support.ts';

/** As long as a neighbour of a busy machine may take to say something. */
const STILL_SECONDS = 3;
const WAIT = { timeout: 90_000 };
const MIB = 1024 * 1024;

/** Without those that end it when they are asked as they should be. */
const POSTS = ['/execute_action', '/list_files', '/lines_to_edit', '/plugins/start', '/lease'] as const;
const ENDING = ['/sleep', '/shutdown'] as const;
const FIELDS = ['path', 'start', 'end', 'name', 'seconds', 'key', 'incarnation', 'action', 'args', 'secrets', 'outputFrom', '__proto__'];

let executor: TestExecutor;
beforeAll(async () => {
  executor = await startExecutor({ limits: { stillSeconds: STILL_SECONDS } });
});
afterAll(() => executor.kill());

const descriptors = (): number => readdirSync(`/proc/${executor.process.pid}/fd`).length;
const temporaries = (): readonly string[] => readdirSync(executor.workspace).filter((name) => name.startsWith('.tendon-'));

/** It lives, is the same, and does what it is asked. */
async function expectUnharmed(): Promise<void> {
  expect(JSON.parse((await executor.call('GET', '/alive')).body)).toMatchObject({ incarnation: 'one', pid: executor.process.pid });
  expect(await executor.run('echo works')).toMatchObject({ content: 'works', exitCode: 0 });
}

interface Raw {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<void>;
  isClosed: boolean;
}

function raw(bytes: string | Uint8Array): Raw {
  const socket = connect(executor.config.endpoint.socketPath!);
  let text = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const one: Raw = { socket, received: () => text, closed, isClosed: false };
  void closed.then(() => (one.isClosed = true));
  socket.on('error', () => undefined).on('data', (data) => (text = (text + data.toString('latin1')).slice(0, 100_000)));
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return one;
}

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
const post = (path: string, headers: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n`;

describe('RT212: the listener of an executor', () => {
  it('answers what is no JSON object, or has values of another kind, with no and with words', async () => {
    const wrong = fc.oneof(
      fc.constantFrom('{', '{"a":', '[]', 'null', '1', '"x"', 'nul', '{"a":1}}', '\u0000', '[[[', '{"path":1}x'),
      fc.string({ minLength: 1 }).filter((text) => text.trim() !== '' && !isObject(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...POSTS, ...ENDING.slice(0, 1)), wrong, async (path, body) => {
        const answer = await executor.call('POST', path, body);
        expect([path, answer.status, typeof (JSON.parse(answer.body) as { error?: unknown }).error]).toEqual([path, 400, 'string']);
      }),
      { numRuns: runs(150), seed: SEED, endOnFailure: true },
    );
    const kinds: readonly (readonly [path: string, body: object])[] = [
      ['/list_files', { path: 1 }],
      ['/list_files', { path: ['.'] }],
      ['/lines_to_edit', { path: {}, start: 1, end: 1 }],
      ['/lines_to_edit', { path: 'a', start: '1', end: 1 }],
      ['/plugins/start', { name: { toString: 1 } }],
      ['/lease', { seconds: '60' }],
      ['/lease', { seconds: -1 }],
      ['/sleep', { with_kernel: 'yes' }],
      ['/sleep', { in_place: 1 }],
    ];
    for (const [path, body] of kinds) expect([path, body, (await executor.call('POST', path, body)).status]).toEqual([path, body, 400]);
    await expectUnharmed();
  });

  it('begins nothing for a request that is not one, and says why', async () => {
    const good = { key: 'fuzz:1', digest: 'a', incarnation: 'one', action: { action: 'run', args: { command: 'echo x >> begun' } } };
    const broken = fc.constantFrom<(value: unknown) => object>(
      (value) => ({ ...good, key: value }),
      (value) => ({ ...good, digest: value }),
      (value) => ({ ...good, incarnation: value }),
      (value) => ({ ...good, action: value }),
      (value) => ({ ...good, action: { ...good.action, args: value } }),
      (value) => ({ ...good, action: { ...good.action, action: value } }),
      (value) => ({ ...good, action: { ...good.action, timeout: value ?? 'x' } }),
      (value) => ({ ...good, secrets: [value] }),
      (value) => ({ ...good, outputFrom: value ?? 'x' }),
    );
    const notThose = hostileValue.filter(
      (value) => !(typeof value === 'number' && value >= 0) && typeof value !== 'string' && value !== undefined,
    );
    await fc.assert(
      fc.asyncProperty(broken, notThose, async (breaking, value) => {
        // An empty record is a fitting one.
        fc.pre(JSON.stringify(breaking(value)) !== JSON.stringify(good) && JSON.stringify(value) !== '{}');
        const { status, body } = await executor.call('POST', '/execute_action', breaking(value));
        const isArgs = typeof value === 'object' && value !== null && !Array.isArray(value);
        if (isArgs && body.includes('"outcome"')) return; // arguments that nobody reads
        expect([status, JSON.parse(body.trim())]).toEqual([200, { type: 'refused', reason: expect.any(String) as string }]);
      }),
      { numRuns: runs(200), seed: SEED, endOnFailure: true },
    );
    expect(existsSync(join(executor.workspace, 'begun'))).toBe(false);
    await expectUnharmed();
  });

  itInFull('takes JSON as deep and as large as it may be, and no larger, without swelling', async () => {
    const memory = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${executor.process.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = memory();
    const deep = `{"path":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect((await executor.call('POST', '/list_files', deep.slice(0, 60_000))).status).toBe(400);
    const nested = `{"key":"k","incarnation":"one","action":${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}}`;
    expect((await executor.call('POST', '/execute_action', nested)).body).toContain('the action is malformed');
    for (const [path, size] of [
      ['/list_files', 1],
      ['/lease', 1],
      ['/execute_action', 80],
    ] as const) {
      const sent = raw(post(path, 'Transfer-Encoding: chunked\r\n'));
      const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB, 0x20), Buffer.from('\r\n')]);
      for (let count = 0; count < size && !sent.isClosed; count += 1)
        await new Promise<void>((resolve) => sent.socket.write(piece, () => resolve()));
      await sent.closed; // by the executor
      expect([0, 400]).toContain(statusOf(sent.received())); // what was still on its way may have cost the answer
    }
    const bomb = gzipSync(Buffer.alloc(200 * MIB, 0x20), { level: 1 });
    const packed = raw(post('/list_files', `Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\nConnection: close\r\n`));
    packed.socket.write(bomb);
    await packed.closed;
    expect([0, 400]).toContain(statusOf(packed.received()));
    expect(memory() - before).toBeLessThan(400);
    await expectUnharmed();
  });

  it('leads by a tunnel to nothing but a served port, and is not held up by a client', async () => {
    const before = descriptors();
    const upgrade = (path: string, more = ''): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n${more}\r\n`;
    const all = [
      ...['0', '1', '65536', '99999', '999999', '-1', '1e3', '%31', '22/../22', '', '0x16'].map((port) => upgrade(`/tunnel/${port}`)),
      upgrade('/alive'),
      upgrade('/tunnel/1?x'),
      upgrade('/tunnel/1', 'Content-Length: 5\r\n'),
      'GET /tunnel/1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ].map((bytes) => raw(bytes));
    for (const one of all) {
      await one.closed; // also of who never hangs up
      expect(statusOf(one.received())).toBeGreaterThanOrEqual(400);
    }
    await expect.poll(descriptors, WAIT).toBeLessThanOrEqual(before);
    await expectUnharmed();
  });

  itInFull('hangs up on who stops in the middle, and keeps nothing of it', async () => {
    await expectUnharmed();
    writeFileSync(join(executor.workspace, 'large'), Buffer.alloc(32 * MIB));
    writeFileSync(join(executor.workspace, 'stored'), 'as it was');
    const before = descriptors();
    const slow = [
      '',
      'GET /ali',
      'GET /alive HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      post('/list_files', 'Content-Length: 100\r\n') + '{"path"',
      post('/execute_action', 'Transfer-Encoding: chunked\r\n') + 'ffffff\r\n{',
      'PUT /files?path=never HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf',
      'PUT /files?path=stored HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ].flatMap((bytes) => Array.from({ length: 10 }, () => raw(bytes)));
    const deaf = Array.from({ length: 5 }, () => {
      const one = raw('GET /files?path=large HTTP/1.1\r\nHost: x\r\n\r\n');
      one.socket.pause();
      return one;
    });
    await expectUnharmed();
    await Promise.all(slow.map(({ closed }) => closed));
    // Who does not read does not see the end either; what was open for it is what counts.
    await expect.poll(descriptors, WAIT).toBeLessThanOrEqual(before);
    for (const { socket } of deaf) socket.destroy();
    expect([temporaries(), existsSync(join(executor.workspace, 'never'))]).toEqual([[], false]);
    expect((await executor.run('cat stored')).content).toBe('as it was');
    await expectUnharmed();
  });

  it('forgets who dies in the middle of taking or giving', async () => {
    writeFileSync(join(executor.workspace, 'large'), Buffer.alloc(32 * MIB));
    const before = descriptors();
    for (let round = 0; round < 5; round += 1) {
      const dying = [
        ...Array.from({ length: 5 }, () => raw('PUT /files?path=dead HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhalf')),
        ...Array.from({ length: 5 }, () => raw('GET /files?path=large HTTP/1.1\r\nHost: x\r\n\r\n')),
        ...Array.from({ length: 5 }, () => raw('GET /ports/follow HTTP/1.1\r\nHost: x\r\n\r\n')),
        ...Array.from({ length: 5 }, () => raw('GET /watch HTTP/1.1\r\nHost: x\r\n\r\n')),
      ];
      await Promise.all(dying.slice(5).map(async (one) => expect.poll(() => one.received().length, WAIT).toBeGreaterThan(0)));
      await expect.poll(() => temporaries().length, WAIT).toBe(5);
      for (const { socket } of dying) socket.destroy();
      await expect.poll(() => temporaries().length, WAIT).toBe(0);
    }
    await expect.poll(descriptors, WAIT).toBeLessThanOrEqual(before);
    expect(existsSync(join(executor.workspace, 'dead'))).toBe(false);
    await expectUnharmed();
  });
});

/** Any path may be written: so it is one that is shut in. */
describe('RT212: the listener of an executor in a sandbox', () => {
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  let socketPath = '';
  beforeAll(async () => {
    sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    runtime = await sandboxes.runtimes.acquire('fuzz', { signal: never });
    socketPath = (await sandboxes.handle('fuzz')).socketPath!;
  });
  afterAll(() => sandboxes.close());

  async function statusFor(method: string, path: string, body?: string): Promise<number | undefined> {
    const asked = httpRequest({ socketPath, method, path, agent: false }).end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode;
  }

  it('survives whatever a route is sent, in path, query and body', async () => {
    const passwd = readFileSync('/etc/passwd', 'utf8');
    const attack = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'),
      path: fc.oneof(
        fc.constantFrom<string>(...POSTS, '/files', '/ports', '/alive', '/server_info'),
        hostileText.map((text) => `/effects/${encodeURIComponent(text.toWellFormed().slice(0, 500))}`),
        hostileText.map((text) => `/effects/${encodeURIComponent(text.toWellFormed().slice(0, 500))}/output`),
        fc.constantFrom(
          '/effects/%ff/output',
          '/effects/%00/cancel',
          '//files',
          '/../../files',
          '/files/..%2f..%2f',
          '/effects//cancel',
          '/%',
        ),
      ),
      query: fc.dictionary(fc.constantFrom('path', 'from', '__proto__'), hostileText, { maxKeys: 2 }),
      body: fc.oneof(hostileValue, fc.dictionary(fc.constantFrom(...FIELDS), hostileValue, { maxKeys: 4 })),
    });
    await fc.assert(
      fc.asyncProperty(attack, async ({ method, path, query, body }) => {
        const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed().slice(0, 500))}`);
        const json = ['POST', 'PUT', 'PATCH'].includes(method) ? JSON.stringify(body) : undefined;
        const status = await statusFor(method, `${path}?${search.join('&')}`, json);
        expect([200, 204, 400, 404], `${method} ${path} ${status}`).toContain(status);
      }),
      { numRuns: runs(300), seed: SEED, endOnFailure: true },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect((await run(runtime, 'echo works')).output).toBe('works');
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(passwd);
  });
});

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
