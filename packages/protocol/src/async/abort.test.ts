import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { abortable, unlessAborted, withDeadline } from './abort.ts';

const reason = new Error('the reason');
const never = new Promise<never>(() => undefined);

it('EN550: a wait ends with the abort, whatever it waited for does later', async () => {
  const stopped = new AbortController();
  const late = Promise.withResolvers<string>();
  const waits = [abortable(late.promise, stopped.signal), unlessAborted(late.promise, stopped.signal)] as const;
  stopped.abort(reason);
  late.reject(new Error('too late'));
  await expect(waits[0]).rejects.toBe(reason);
  expect(await waits[1]).toBeUndefined();
});

it('EN550: with a signal that is aborted already nothing is waited for', async () => {
  await expect(abortable(never, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await unlessAborted(never, AbortSignal.abort(reason))).toBeUndefined();
});

it('EN550: without an abort the outcome is that of the promise, and the signal keeps no listener', async () => {
  const { signal } = new AbortController();
  for (const wait of [abortable, unlessAborted]) {
    expect(await wait(Promise.resolve(7), signal)).toBe(7);
    await expect(wait(Promise.reject(reason), signal)).rejects.toBe(reason);
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('SV650: work with a deadline ends with it, or with the outer signal, and leaves nothing behind', async () => {
  const outer = new AbortController();
  const ends = (signal: AbortSignal) => abortable(never, signal);
  await expect(withDeadline(1, ends)).rejects.toMatchObject({ name: 'TimeoutError' });
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  expect(await withDeadline(60_000, async (signal) => signal.aborted, outer.signal)).toBe(false);
  await expect(withDeadline(60_000, () => Promise.reject(reason), outer.signal)).rejects.toBe(reason);
  expect([timers(), getEventListeners(outer.signal, 'abort')]).toEqual([before, []]);
  const stopped = withDeadline(60_000, ends, outer.signal);
  outer.abort(reason);
  await expect(stopped).rejects.toBe(reason);
  await expect(withDeadline(60_000, ends, outer.signal)).rejects.toBe(reason);
});
