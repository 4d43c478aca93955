import { expect, it } from 'vitest';
import { KeyedMutex } from './keyed-semaphore.ts';

it('SV199: tasks of one key run in order, those of another do not wait, and a failed one stops no other', async () => {
  const mutex = new KeyedMutex();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = mutex.run('a', async () => {
    await gate.promise;
    order.push('a1');
    throw new Error('a1 failed');
  });
  const second = mutex.run('a', () => order.push('a2'));
  await mutex.run('b', () => order.push('b1'));
  gate.resolve();
  await expect(first).rejects.toThrow('a1 failed');
  await second;
  expect(order).toEqual(['b1', 'a1', 'a2']);
});
