/**
 * The contract suite of `Storage`: every backend passes it. Rules: docs/spec/log.md.
 * `reopen` closes the storage and opens what it left behind; a backend that keeps nothing leaves it out.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import type { Clock } from '../async/clock.ts';
import type { EventLog } from '../log/event-log.ts';
import { appending, conflicts } from './contract/appending.ts';
import { closing, conversations, keeping } from './contract/lifecycle.ts';
import { manualClock } from './contract/manual-clock.ts';
import { pageIndex } from './contract/page-index.ts';
import { following, reading } from './contract/reading.ts';
import { records } from './contract/records.ts';
import { snapshots } from './contract/snapshots.ts';
import type { StorageUnderTest } from './contract/storage-under-test.ts';
import type { Storage } from './storage.ts';

export function storageContract(name: string, make: (clock: Clock) => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    const clock = manualClock();
    let parts: StorageUnderTest;
    let storage: Storage;
    let log: EventLog;

    beforeEach(async () => {
      parts = await make(clock);
      storage = parts.storage;
      log = await storage.events.open('c');
    });
    afterEach(() => parts.dispose());

    appending(() => log, clock);
    conflicts(() => log);
    reading(() => log);
    following(() => ({ storage, log }));
    conversations(() => storage);
    records(() => storage);
    pageIndex(() => parts);
    snapshots(() => ({ ...parts, log }));
    closing(() => ({ storage, log }));
    keeping(() => parts);
  });
}
