import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createMemoryStorage } from '@tendon/core/storage';
import { MessageAction, RunAction, RunObservation } from '@tendon/protocol';
import { createMask, Secret } from '@tendon/protocol/masking';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../platform/system-clock.ts';
import { invariantAnalyzer, type InvariantOptions } from './invariant-analyzer.ts';

const ID = '0123456789abcdef0123456789abcdef';
const { signal } = new AbortController();
const run = (command: string) => RunAction.create({ command, thought: 'why' });

interface Asked {
  readonly line: string;
  readonly body: unknown;
}

/** Speaks as a server of Invariant does; `check` is the answer to each check, a number the status of a refusal. */
async function server(check: () => unknown): Promise<{ readonly url: URL; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const answers = {
    '/session/new': () => ({ id: ID }),
    '/policy/template': () => 'the policy',
    '/monitor/new': () => ({ monitor_id: 'm 1' }),
  };
  const http = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://x');
    asked.push({ line: `${request.method} ${request.url}`, body: request.method === 'POST' ? await json(request) : undefined });
    const answer = (answers[pathname as keyof typeof answers] ?? check)();
    if (typeof answer === 'number') return response.writeHead(answer).end('no');
    return response.end(typeof answer === 'string' && pathname.endsWith('/check') ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void (http.closeAllConnections(), http.close()));
  return { url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`), asked };
}

type Log = InvariantOptions['log'];

async function analyzer(url: URL, wrapped = (log: Log): Log => log) {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  await log.append(
    [
      { source: 'user', ...MessageAction.create({ content: 'begin' }) },
      { source: 'agent', ...run('echo one') },
      { source: 'agent', cause: 1, ...RunObservation.create('one', { command: 'echo one' }) },
    ],
    { expectedId: 0 },
  );
  return invariantAnalyzer({ url, conversationId: ID, log: wrapped(log), mask: createMask([new Secret('hunter2-hunter2')]) });
}

it('TR913: an action is checked with what happened before, in a session of the conversation, without secrets', async () => {
  const { url, asked } = await server(() => []);
  const { analyze } = await analyzer(url);
  expect(await analyze(run('echo hunter2-hunter2'), signal)).toEqual({ risk: 0 });
  expect(await analyze(run('echo two'), signal)).toEqual({ risk: 0 });
  expect(asked.map(({ line }) => line)).toEqual([
    `GET /session/new?session_id=${ID}`,
    'GET /policy/template',
    `POST /monitor/new?session_id=${ID}`,
    `POST /monitor/m%201/check?session_id=${ID}`,
    `POST /monitor/m%201/check?session_id=${ID}`,
  ]);
  expect(asked[2]!.body).toEqual({ rule: 'the policy' });
  const call = (id: string, command: string) => [
    { role: 'assistant', content: 'why' },
    { id, type: 'function', function: { name: 'run', arguments: expect.objectContaining({ command }) as unknown } },
  ];
  expect(asked[3]!.body).toEqual({
    past_events: [{ role: 'user', content: 'begin' }, ...call('1', 'echo one'), { role: 'tool', content: 'one', tool_call_id: '1' }],
    pending_events: call('2', 'echo <secret_hidden>'),
  });
});

it('TR913: the highest risk of the findings counts, and a finding that names none is of unknown risk', async () => {
  let findings: readonly string[] = [];
  const { url } = await server(() => findings);
  const { analyze } = await analyzer(url);
  const riskOf = async (...found: readonly string[]) => {
    findings = found;
    return (await analyze(run('echo one'), signal)).risk;
  };
  expect(await riskOf('PolicyViolation(a [risk=low])', 'PolicyViolation(b [risk=medium])')).toBe(1);
  expect(await riskOf('a [risk=medium]', 'b', 'c [risk=high]')).toBe(2);
  expect(await riskOf('a [risk=low]', 'b')).toBe(-1);
  expect(await riskOf('a [risk=terrible]')).toBe(-1);
  // A finding quotes what it is about.
  expect(await riskOf('sends “risk=low” [risk=high]')).toBe(2);
});

it('TR913: a server that no longer knows the monitor is given it again', async () => {
  let isForgotten = true;
  const { url, asked } = await server(() => {
    const answer = isForgotten ? 404 : [];
    isForgotten = false;
    return answer;
  });
  expect(await (await analyzer(url)).analyze(run('echo one'), signal)).toEqual({ risk: 0 });
  expect(asked.filter(({ line }) => line.startsWith('POST /monitor/new'))).toHaveLength(2);
});

it('TR914: a server that is dead, refuses, or answers something else judges nothing, and says why', async () => {
  const { url: dead } = await server(() => []);
  for (const [check, reason] of [
    [() => 500, 'could not be asked: it answered 500'],
    [() => ({ errors: [] }), 'answered with something else'],
    [() => 'no JSON', 'answered with something else'],
    [() => ['x'.repeat(300_000)], 'larger than 256 KiB'],
  ] as const) {
    const { url } = await server(check);
    expect(await (await analyzer(url)).analyze(run('echo one'), signal)).toEqual({ risk: -1, problem: expect.stringContaining(reason) });
  }
  dead.port = '1';
  expect(await (await analyzer(dead)).analyze(run('echo one'), signal)).toMatchObject({
    risk: -1,
    problem: expect.stringContaining('127.0.0.1:1'),
  });
});

it('TR914: a server that is dead before the log is read, and a log that cannot be read, judge nothing, and end nothing', async () => {
  const dead = new URL('http://127.0.0.1:1');
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const late = await analyzer(dead, (log) => ({
    nextId: log.nextId,
    async read(query) {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      return log.read(query);
    },
  }));
  expect(await late.analyze(run('echo one'), signal)).toMatchObject({ risk: -1, problem: expect.stringContaining('127.0.0.1:1') });
  const unread = await analyzer(dead, ({ nextId }) => ({ nextId, read: async () => Promise.reject(new Error('the disk is gone')) }));
  expect(await unread.analyze(run('echo one'), signal)).toMatchObject({ risk: -1 });
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
