import { expect, it } from 'vitest';
import { createSerialQueues } from './serial-queues.ts';

it('SV199: tasks of one key run in order, those of another do not wait, and a failed one stops no other', async () => {
  const inTurn = createSerialQueues();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = inTurn('a', async () => {
    await gate.promise;
    order.push('a1');
    throw new Error('a1 failed');
  });
  const second = inTurn('a', () => order.push('a2'));
  await inTurn('b', () => order.push('b1'));
  gate.resolve();
  await expect(first).rejects.toThrow('a1 failed');
  await second;
  expect(order).toEqual(['b1', 'a1', 'a2']);
});
