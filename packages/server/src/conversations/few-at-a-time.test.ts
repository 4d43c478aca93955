import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { fewAtATime } from './few-at-a-time.ts';

const MINUTE = { atOnce: 4, slowMs: 60_000, clock: systemClock };
const open = new AbortController().signal;

/** Tasks that end when the test says so. */
function gates() {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const task = async (item: number): Promise<void> => {
    begun.push(item);
    await new Promise<void>((resolve) => ends.set(item, resolve));
  };
  return { begun, task, end: (item: number) => ends.get(item)!() };
}

const items = [0, 1, 2, 3, 4, 5, 6];

it('SV202: a limited number at a time, in order; an unfinished task occupies only its own place', async () => {
  const { begun, task, end } = gates();
  const all = fewAtATime(items, task, { ...MINUTE, signal: open });
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const item of [2, 4, 5]) {
    end(item);
    await expect.poll(() => begun.length).toBe(begun.length + 1);
  }
  expect(begun).toEqual(items);
  for (const item of [0, 1, 3, 6]) end(item);
  await all;
});

it('SV202: tasks that take too long give up their places', async () => {
  const { begun, task, end } = gates();
  const sleepers: (() => void)[] = [];
  const clock = { now: () => new Date(), sleep: () => new Promise<void>((resolve) => void sleepers.push(resolve)) };
  const all = fewAtATime(items, task, { atOnce: 4, slowMs: 1, clock, signal: open });
  for (const wake of sleepers.splice(0)) wake();
  await expect.poll(() => begun).toEqual(items);
  for (const item of [4, 5, 6]) end(item);
  for (const wake of sleepers.splice(0)) wake();
  await all;
});

it('SV202: the event loop is yielded between two, and no task begins after the end', async () => {
  const ending = new AbortController();
  let begun = 0;
  const all = fewAtATime(items, async () => void (begun += 1), { ...MINUTE, atOnce: 1, signal: ending.signal });
  await Promise.resolve();
  expect(begun).toBe(1);
  await setImmediate();
  await setImmediate();
  expect(begun).toBeLessThanOrEqual(3);
  ending.abort();
  const before = begun;
  await all;
  expect(begun).toBe(before);
});
