import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { ExecuteResult, OutputChunk } from '@tendon/core';
import type { ExecuteRequest } from '@tendon/protocol/executor-api';
import { watchDisk } from '../disk/disk-watch.ts';
import { createExecutorClient, type ExecutorClient } from './executor-client.ts';
import { watchLimits } from './limit-notes.ts';
import { ON_THIS_HOST, type RetryLimits } from './action-stream.ts';
import { createSandboxRuntime } from './sandbox-runtime.ts';
import { never, runAction } from '../testing/sandboxes.ts';

type Answer = (request: ExecuteRequest, response: ServerResponse, attempt: number) => void;

const OUTCOME = { type: 'outcome', observation: { observation: 'run', content: 'fine', extras: { command: 'x' } } };
const UNLIMITED = watchDisk({
  ...{ limitBytes: Infinity, measure: async () => ({ bytes: 0, isComplete: true }), freeBytes: async () => 0, endWork: async () => {} },
  ...{ giveUp: () => {}, now: () => performance.now() },
});
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** The other end of the wire, as hostile or as broken as a test wants it. */
describe('a runtime and what it hears', () => {
  let folder = '';
  let server: Server | undefined;
  let client: ExecutorClient;
  let incarnation = 'one';
  const requests: string[] = [];
  const traceparents: unknown[] = [];
  const lost = Promise.withResolvers<string>();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tendon-wire-'));
    client = createExecutorClient({ socketPath: join(folder, 'executor.sock') });
    requests.length = 0;
    traceparents.length = 0;
    incarnation = 'one';
  });
  afterEach(async () => {
    client.close();
    server?.closeAllConnections();
    server?.close();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  async function listen(answer: Answer): Promise<void> {
    let attempt = 0;
    const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      requests.push(`${request.method} ${request.url}`);
      if (request.url === '/alive') return void response.end(JSON.stringify({ status: 'ok', incarnation, pid: 1 }));
      if (request.headers.traceparent !== undefined) traceparents.push(request.headers.traceparent);
      if (request.url !== '/execute_action') return void response.writeHead(204).end();
      answer(JSON.parse(await text(request)) as ExecuteRequest, response, (attempt += 1));
    };
    server = createServer((request, response) => void handle(request, response));
    await once(server.listen(join(folder, 'executor.sock')), 'listening');
  }

  async function execute(
    more: {
      retries?: RetryLimits;
      isFresh?: boolean;
      timestamp?: string;
      onOutput?: (chunk: OutputChunk) => void;
      signal?: AbortSignal;
      traceparent?: string;
    } = {},
  ): Promise<ExecuteResult> {
    const { retries = ON_THIS_HOST, timestamp = '2026-01-03T00:00:00.000Z', isFresh = true, ...options } = more;
    const runtime = createSandboxRuntime({
      conversationId: 'conversation',
      incarnation: 'one',
      isReadOnly: false,
      strength: 'none',
      description: '',
      workspace: '/workspace',
      retries,
      client,
      lost: lost.promise,
      secretsFor: async () => new Map(),
      notice: undefined,
      limits: watchLimits([], undefined),
      disk: UNLIMITED,
      giveUp: () => {},
      onFenced: () => {},
    });
    return runtime.execute(runAction(runtime, 'x', { id: 5, timestamp }), { signal: never, epoch: 'epoch', isFresh, ...options });
  }

  it('SB6: sends key, incarnation and arguments, and gives the outcome', async () => {
    const sent: ExecuteRequest[] = [];
    await listen((request, response) => {
      sent.push(request);
      response.end(line(OUTCOME));
    });
    expect(await execute()).toMatchObject({ outcome: 'observed', observation: { observation: 'run', content: 'fine' } });
    expect(sent).toMatchObject([
      {
        key: 'conversation:epoch:5',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        incarnation: 'one',
        action: { action: 'run', args: { command: 'x' } },
      },
    ]);
  });

  it('SV1123: the executor is sent the trace of a call, and nothing else is', async () => {
    await listen((_request, response) => void response.end(line(OUTCOME)));
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await execute();
    await execute({ traceparent });
    expect(traceparents).toEqual([traceparent]);
  });

  it('SB26: a broken connection is mended, and no output comes twice or is lost', async () => {
    const output = (offset: number, piece: string): string => line({ type: 'output', offset, text: piece });
    const asked: (number | undefined)[] = [];
    await listen((request, response, attempt) => {
      asked.push(request.outputFrom);
      if (attempt === 1) response.write(output(0, 'a') + output(1, '\uFFFD'), () => response.destroy());
      else if (attempt === 2) response.write(output(1, '\uFFFDbc'), () => response.destroy());
      else response.end(output(1, '\uFFFDbc') + output(4, 'd') + line(OUTCOME));
    });
    const chunks: string[] = [];
    expect(await execute({ onOutput: (chunk) => chunks.push(chunk.text) })).toMatchObject({ outcome: 'observed' });
    expect(chunks).toEqual(['a', '\uFFFD', 'bc', 'd']);
    expect(asked).toEqual([0, 1, 1]);
  });

  it('SB800: between two pieces of output everybody else gets a turn, also when they come at once', async () => {
    const pieces = Array.from({ length: 10 }, (_, index) => line({ type: 'output', offset: index, text: 'x' }));
    await listen((_request, response) => response.end(pieces.join('') + line(OUTCOME)));
    const turns: number[] = [];
    let turn = 0;
    const others = (): void => {
      turn += 1;
      waiting = setImmediate(others);
    };
    let waiting = setImmediate(others);
    await execute({ onOutput: () => turns.push(turn) }).finally(() => clearImmediate(waiting));
    expect(turns).toHaveLength(10);
    expect(new Set(turns).size).toBe(10);
  });

  it('SB26: another incarnation behind the same path makes the outcome unknown', async () => {
    await listen((_request, response) => {
      incarnation = 'two';
      response.destroy();
    });
    expect(await execute()).toMatchObject({ outcome: 'unknown' });
    expect(requests.filter((request) => request.includes('execute'))).toHaveLength(1);
  });

  itInFull('SB26: a connection that breaks again and again is given up', async () => {
    await listen((_request, response) => response.destroy());
    expect(await execute()).toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('again and again') });
  });

  it.each(['1970-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z', '9999-01-01T00:00:00.000Z'])(
    'SB27: not started is only answered for an action that nobody can have sent before, whatever its time (%s)',
    async (timestamp) => {
      expect(await execute({ timestamp })).toMatchObject({ outcome: 'not-started' });
      expect(await execute({ timestamp, isFresh: false })).toMatchObject({ outcome: 'unknown' });
    },
  );

  it('SB27: a refusal is a certain not-started, with its reason', async () => {
    await listen((_request, response) => response.end(line({ type: 'refused', reason: 'no such kind' })));
    expect(await execute()).toEqual({ outcome: 'not-started', reason: 'the sandbox refused it: no such kind' });
  });

  it.each([
    ['not JSON', 'hello\n'],
    ['not an object', '7\n'],
    ['null', 'null\n'],
    ['no known type', line({ type: 'win' })],
    ['another kind', line({ type: 'outcome', observation: { observation: 'agent_state_changed', content: '', extras: {} } })],
    ['no observation', line({ type: 'outcome' })],
  ])('SB30: an answer that is %s becomes an error', async (_what, answer) => {
    await listen((_request, response) => response.end(answer));
    expect(await execute()).toMatchObject({ outcome: 'observed', observation: { observation: 'error' } });
  });

  it('SB31: a line that does not end is not listened to for ever', async () => {
    await listen((_request, response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
      };
      response.on('drain', flood);
      flood();
    });
    const result = await execute();
    expect(result).toMatchObject({
      outcome: 'observed',
      observation: { observation: 'error', content: expect.stringContaining('characters') },
    });
    expect(requests.at(-1)).toMatch(/^POST \/effects\/conversation%3Aepoch%3A5\/cancel\?digest=[0-9a-f]{64}$/);
  });

  it('SB31: a path that is not a socket is not connected to', async () => {
    await listen((_request, response) => response.end(line(OUTCOME)));
    await symlink(join(folder, 'executor.sock'), join(folder, 'other.sock'));
    await expect(createExecutorClient({ socketPath: join(folder, 'other.sock') }).alive({ signal: never })).rejects.toThrow('ENOTDIR');
  });

  it('SB31: files and lists are bounded and checked', async () => {
    server = createServer((request, response) => {
      if (request.url === '/list_files') response.end('{"not":"names"}');
      else if (request.url?.startsWith('/files')) response.end('x'.repeat(1000));
      else response.writeHead(500).end('{"error":"full"}');
    });
    await once(server.listen(join(folder, 'executor.sock')), 'listening');
    await expect(client.files.list('.', { signal: never })).rejects.toThrow('did not list');
    await expect(client.files.read('x', { signal: never, maxBytes: 999 })).rejects.toThrow('more than 999 bytes');
    expect(await client.files.read('x', { signal: never, maxBytes: 1000 })).toHaveLength(1000);
    await expect(client.lease(1)).rejects.toThrow('full');
    await expect(client.alive({ signal: never })).rejects.toThrow('full');
  });

  it('SB9: an abort is passed on, also when it came while the action was on its way', async () => {
    const controller = new AbortController();
    await listen((_request, response) => {
      controller.abort();
      const check = setInterval(() => {
        if (!requests.some((request) => request.includes('/cancel?'))) return;
        clearInterval(check);
        response.end(line(OUTCOME));
      }, 5);
    });
    expect(await execute({ signal: controller.signal })).toMatchObject({ outcome: 'observed' });
  });
});
