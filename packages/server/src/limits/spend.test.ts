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

it('SV1377: what is read while a sum is written sets nothing back', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  const [read, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Pick<RecordStore, 'get' | 'update'> = {
    get: async <T>(...given: Parameters<RecordStore['get']>) => {
      const found = await records.get<T>(...given);
      read.resolve();
      await goesOn.promise;
      return found;
    },
    update: (...given) => records.update(...given),
  };
  const spend = new Spend(slow, { ...systemClock, sleep: async () => undefined });
  const refreshed = spend.refresh(['server']);
  await waitFor(read.promise, () => 'the read');
  spend.add(['server'], 5);
  await spend.close();
  goesOn.resolve();
  await refreshed;
  expect([spend.of('server', 'day'), spend.of('server', 'month')]).toEqual([5, 5]);
});
