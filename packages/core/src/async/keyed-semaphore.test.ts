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
