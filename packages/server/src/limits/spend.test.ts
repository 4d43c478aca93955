import { setImmediate } from 'node:timers/promises';
import type { RecordStore } from '@tendon/core';
import { createMemoryStorage } from '@tendon/core/storage';
import { waitFor } from '@tendon/testing';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { Spend } from './spend.ts';

it('SV1377: what was spent is stored once, also where the storage takes longer than the time between two writes', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Pick<RecordStore, 'get' | 'update'> = {
    get: (...given) => records.get(...given),
    update: async (...given) => {
      begun.resolve();
      await goesOn.promise;
      return records.update(...given);
    },
  };
  const spend = new Spend(slow, { ...systemClock, sleep: async () => undefined });
  spend.add(['server'], 1);
  await waitFor(begun.promise, () => 'the first write');
  spend.add(['server'], 2);
  await setImmediate();
  goesOn.resolve();
  await spend.close();
  const stored = await records.list<number>('spend');
  expect(stored.map(({ value }) => value)).toEqual([3, 3]);
});
