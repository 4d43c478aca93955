import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { KeyedSemaphore, type Release } from './keyed-semaphore.ts';

const never = new AbortController().signal;

describe('LM95: places', () => {
  it('are taken up to the limit, separately for each key, and passed on in order of arrival', async () => {
    const semaphore = new KeyedSemaphore(2);
    const [first, second] = await Promise.all([semaphore.acquire('a', never), semaphore.acquire('a', never)]);
    expect(semaphore.tryAcquire('b')).toBeDefined();
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (name) => {
      const release = await semaphore.acquire('a', never);
      order.push(name);
      return release;
    });
    expect([semaphore.waiting('a'), semaphore.tryAcquire('a')]).toEqual([3, undefined]);
    first!();
    first!(); // a place is given back once
    await waiting[0];
    expect(semaphore.waiting('a')).toBe(2);
    second!();
    (await waiting[0])!();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    for (const release of await Promise.all(waiting)) release!();
    expect([semaphore.tryAcquire('a'), semaphore.tryAcquire('a')].every(Boolean)).toBe(true);
    expect(semaphore.tryAcquire('a')).toBeUndefined();
  });

  it('LM96: an abort ends a wait at once; the place goes to the next', async () => {
    const semaphore = new KeyedSemaphore(1);
    const held = semaphore.tryAcquire('a')!;
    const abort = new AbortController();
    const gone = semaphore.acquire('a', abort.signal);
    const next = semaphore.acquire('a', never);
    abort.abort();
    expect(await gone).toBeUndefined();
    expect(await semaphore.acquire('a', AbortSignal.abort())).toBeUndefined();
    expect(semaphore.waiting('a')).toBe(1);
    held();
    expect(await next).toBeTypeOf('function');
  });

  it('LM96: an abort after the place was given takes nothing back and loses nothing', async () => {
    const semaphore = new KeyedSemaphore(1);
    const held: Release = semaphore.tryAcquire('a')!;
    const abort = new AbortController();
    const next = semaphore.acquire('a', abort.signal);
    held();
    abort.abort();
    (await next)!();
    expect(semaphore.tryAcquire('a')).toBeDefined();
  });
});

describe('SV1370: parties take turns', () => {
  it('one that comes with one caller waits for one of each other party, however many of those wait, and is shown so', async () => {
    const semaphore = new KeyedSemaphore(1);
    let release = semaphore.tryAcquire('a');
    const order: string[] = [];
    const enter = (party: string) => semaphore.acquire('a', never, party).then((place) => (order.push(party), place));
    const many = Array.from({ length: 100 }, () => enter('busy'));
    expect([semaphore.ahead('a', 'busy'), semaphore.ahead('a', 'calm'), semaphore.waiting('a', 'busy')]).toEqual([100, 1, 100]);
    const one = enter('calm');
    expect([semaphore.ahead('a', 'third'), semaphore.ahead('a', 'calm')]).toEqual([2, 3]);
    for (const next of [many[0]!, one, many[1]!]) {
      release!();
      release = await next;
    }
    expect(order).toEqual(['busy', 'calm', 'busy']);
  });

  it('whatever comes, leaves and ends: no place is lost, nobody waits while one is free, and no party gets two before another gets one', async () => {
    const step = fc.record({ do: fc.constantFrom('come', 'come', 'end', 'abort'), party: fc.constantFrom('a', 'b', 'c'), at: fc.nat(30) });
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (limit, steps) => {
      const semaphore = new KeyedSemaphore(limit);
      const held: Release[] = [];
      let waiting: { readonly party: string; readonly abort: AbortController }[] = [];
      /** Since a party began to wait: how many places each other one was given. */
      const given = new Map<string, Map<string, number>>();
      let mostTurns = 0;
      const settle = async () => {
        for (let n = 0; n < 10; n += 1) await Promise.resolve();
      };
      for (const { do: kind, party, at } of steps) {
        if (kind === 'come') {
          const abort = new AbortController();
          const entry = { party, abort };
          if (!waiting.some((each) => each.party === party)) given.set(party, new Map());
          waiting.push(entry);
          const wait = async () => {
            const release = await semaphore.acquire('k', abort.signal, party);
            waiting = waiting.filter((each) => each !== entry);
            if (!release) return;
            held.push(release);
            for (const [name, counts] of given) {
              if (name === party || !waiting.some((each) => each.party === name)) continue;
              counts.set(party, (counts.get(party) ?? 0) + 1);
              mostTurns = Math.max(mostTurns, counts.get(party)!);
            }
            given.set(party, new Map());
          };
          void wait();
        } else if (kind === 'end' && held.length > 0) held.splice(at % held.length, 1)[0]!();
        else if (kind === 'abort' && waiting.length > 0) waiting[at % waiting.length]!.abort.abort();
        await settle();
        expect(semaphore.totals()).toEqual({ taken: held.length, waiting: waiting.length });
        expect(waiting.length === 0 || held.length === limit).toBe(true);
      }
      for (const { abort } of waiting) abort.abort();
      await settle();
      for (const release of held.splice(0)) release();
      expect(mostTurns).toBeLessThanOrEqual(1 + limit);
      expect(semaphore.totals()).toEqual({ taken: 0, waiting: 0 });
    });
    await fc.assert(property, { numRuns: runs(200) });
  });
});
