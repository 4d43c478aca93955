import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { message } from '../contract/message.ts';
import type { Storage } from '../storage.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as (options: { execution: 'async' }) => Promise<void>;

describe('the event store', () => {
  let database: TemporaryDatabase;
  let storage: Storage;
  beforeEach(async () => {
    database = temporaryDatabase();
    storage = await database.open();
  });
  afterEach(() => database.dispose());

  itInFull('EL10: a follower that nobody else knows of outlives garbage collection', async () => {
    const first = (async (): Promise<number> => {
      const log = await storage.events.open('c');
      for await (const { id } of log.follow(0, new AbortController())) return id;
      return -1;
    })();
    for (let round = 0; round < 5; round++) await collectGarbage({ execution: 'async' });
    await (await storage.events.open('c')).append([message('x')], { expectedId: 0 });
    expect(await first).toBe(0);
  });

  it('EL11: a log that nobody holds is collected', async () => {
    const log = new WeakRef(await storage.events.open('c'));
    for (let round = 0; round < 50 && log.deref(); round++) await collectGarbage({ execution: 'async' });
    expect(log.deref()).toBeUndefined();
    expect((await storage.events.open('c')).nextId).toBe(0);
  });

  it('EL13: a long conversation is deleted in pieces, and its id is free when that is done', async () => {
    const log = await storage.events.open('long');
    for (let id = 0; id < 6_000; id += 1_000)
      await log.append(
        Array.from({ length: 1_000 }, () => message('x')),
        { expectedId: id },
      );
    const deleted = storage.events.delete('long');
    const again = storage.events.delete('long');
    const anew = storage.events.open('long');
    await expect(log.append([message('late')], { expectedId: 6_000 })).rejects.toMatchObject({ code: 'closed' });
    expect((await anew).nextId).toBe(0);
    await Promise.all([deleted, again]);
  });
});
