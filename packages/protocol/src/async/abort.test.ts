import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { abortable, unlessAborted } from './abort.ts';

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
