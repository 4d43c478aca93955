import { expect } from 'vitest';
import type { Storage } from '../storage.ts';

/** Each kind of change by one server is reported to the other. */
export async function expectReports(one: Storage, other: Storage): Promise<void> {
  let reports = 0;
  other.records.watch('settings', () => void (reports += 1));
  one.records.watch('settings', () => undefined);
  const changes: readonly (readonly [number | undefined, () => Promise<unknown>])[] = [
    [1, () => one.records.put('settings', { id: 'default', sort: '', value: 1 })],
    [2, () => one.records.update<number>('settings', 'default', (now = 0) => ({ sort: '', value: now + 1 }))],
    [undefined, () => one.records.delete('settings', 'default')],
  ];
  for (const [value, change] of changes) {
    const before = reports;
    await change();
    await expect.poll(async () => [reports > before, await other.records.get('settings', 'default')]).toEqual([true, value]);
  }
}
