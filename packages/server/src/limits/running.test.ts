import type { LlmEvent, LlmProvider } from '@tendon/core';
import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { Running, type Work } from './running.ts';

const work = (id: string, party: string, rootId = id): Work => ({ id, rootId, party: { name: party } });
const never = new AbortController().signal;

/** A request to a model that ends when the test says so. */
function request(running: Running, of: Work, { signal = never, isWorking = (): boolean => true } = {}) {
  const over = Promise.withResolvers<void>();
  const events: LlmEvent[] = [];
  let hasBegun = false;
  const model: LlmProvider = {
    model: 'test',
    contextWindow: undefined,
    scripted: true,
    async *stream() {
      hasBegun = true;
      yield { type: 'delta', part: 'text', text: 'x' } as const;
      await over.promise;
    },
  } as LlmProvider;
  const ended = (async () => {
    const asked = { messages: [] } as unknown as Parameters<LlmProvider['stream']>[0];
    for await (const event of running.admitted(of, model, isWorking).stream(asked, { signal })) events.push(event);
  })();
  return { events, end: over.resolve, ended, begun: () => hasBegun };
}

const settle = async () => {
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
};

it('SV1371: beyond the limit conversations wait by turns of their parties, see how many are before them, and begin when one rests', async () => {
  const running = new Running({ maxRunning: 1, maxWaiting: 10 });
  const first = request(running, work('a1', 'a'));
  const waiting = [request(running, work('a2', 'a')), request(running, work('a3', 'a')), request(running, work('b1', 'b'))];
  await settle();
  expect(waiting.map(({ events }) => events)).toEqual([0, 1, 1].map((ahead) => [{ type: 'queued', ahead, limit: 1, at: 'server' }]));
  first.end();
  await first.ended;
  // Between two of its requests it works in its sandbox.
  expect([running.totals(), waiting.some(({ begun }) => begun())]).toEqual([{ taken: 1, waiting: 3 }, false]);
  running.rested('a1');
  await settle();
  expect(waiting.map(({ begun }) => begun())).toEqual([true, false, false]);
  running.rested('a2');
  await settle();
  expect(waiting.map(({ begun }) => begun())).toEqual([true, false, true]);
  expect(waiting[2]!.events).toEqual([expect.anything(), { type: 'admitted' }, expect.anything()]);
});

it('SV1372: an agent and those that it delegates to have one place, so none waits for itself; it is given back when all rest', async () => {
  const running = new Running({ maxRunning: 1, maxWaiting: 10 });
  request(running, work('root', 'a'));
  const child = request(running, work('child', 'a', 'root'));
  const other = request(running, work('other', 'b'));
  await settle();
  expect([child.begun(), other.begun()]).toEqual([true, false]);
  running.rested('root');
  await settle();
  expect([other.begun(), running.isAtWork('root')]).toEqual([false, true]);
  running.rested('child');
  await settle();
  expect([other.begun(), running.isAtWork('root')]).toEqual([true, false]);
});

it('SV1373: one that is stopped while it waits gives up its turn; a question aside gives its place back by itself; more than may wait are refused', async () => {
  const running = new Running({ maxRunning: 1, maxWaiting: 2 });
  const first = request(running, work('a1', 'a'), { isWorking: () => false });
  const stop = new AbortController();
  const stopped = request(running, work('a2', 'a'), { signal: stop.signal });
  const last = request(running, work('a3', 'a'));
  await settle();
  expect([running.isFull({ name: 'a' }), running.isFull({ name: 'b' })]).toEqual([true, false]);
  stop.abort();
  await stopped.ended;
  running.rested('a2');
  expect([running.isFull({ name: 'a' }), running.totals()]).toEqual([false, { taken: 1, waiting: 1 }]);
  first.end();
  await first.ended;
  await settle();
  expect([last.begun(), running.isAtWork('a1')]).toEqual([true, false]);
  running.rested('a3');
  expect(running.totals()).toEqual({ taken: 0, waiting: 0 });
});

it('SV1373: of those that begin at once as many are taken as have a place or may wait, though none has asked for one yet', () => {
  const running = new Running({ maxRunning: 2, maxWaiting: 1 });
  const taken = ['a', 'b', 'c', 'd'].filter((id) => {
    const isFull = running.isFull({ name: 'ada' });
    if (!isFull) running.begin(work(id, 'ada'));
    return !isFull;
  });
  expect(taken).toEqual(['a', 'b', 'c']);
  expect(running.isFull({ name: 'bob' })).toBe(false);
  running.rested('a');
  expect(running.isFull({ name: 'ada' })).toBe(false);
});

it('SV1371: whatever begins, asks, stops and rests: no more than the limit work, nobody waits while a place is free, and nothing is left', async () => {
  const step = fc.record({ do: fc.constantFrom('ask', 'ask', 'rest', 'stop'), n: fc.nat(8) });
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 50 }), async (maxRunning, steps) => {
    const running = new Running({ maxRunning, maxWaiting: 100 });
    const live = new Map<string, { readonly asked: ReturnType<typeof request>; readonly stop: AbortController }>();
    for (const { do: kind, n } of steps) {
      const of = work(`c${n}`, `p${n % 3}`, `c${n - (n % 2)}`);
      const now = live.get(of.id);
      if (kind === 'ask' && !now) {
        const stop = new AbortController();
        live.set(of.id, { asked: request(running, of, { signal: stop.signal }), stop });
      } else if (kind !== 'ask' && now) {
        now.stop.abort();
        now.asked.end();
        running.rested(of.id);
        await now.asked.ended;
        running.rested(of.id);
        live.delete(of.id);
      }
      await settle();
      const roots = new Set([...live].filter(([, { asked }]) => asked.begun()).map(([id]) => Number(id.slice(1)) >> 1));
      expect(roots.size).toBeLessThanOrEqual(maxRunning);
      expect(running.totals().taken).toBeLessThanOrEqual(maxRunning);
      const waits = [...live.values()].some(({ asked }) => !asked.begun());
      expect(!waits || running.totals().taken === maxRunning).toBe(true);
    }
    for (const [id, { asked, stop }] of live) {
      stop.abort();
      asked.end();
      await asked.ended;
      running.rested(id);
    }
    await settle();
    expect([running.totals(), [...running.atWork()]]).toEqual([{ taken: 0, waiting: 0 }, []]);
  });
  await fc.assert(property, { numRuns: runs(100) });
});
