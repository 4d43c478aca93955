/** A snapshot that is damaged, or was made of other events than the log has now, is treated as missing. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { manualClock } from '../contract/manual-clock.ts';
import { message } from '../contract/message.ts';
import { openSqliteStorage } from './open-sqlite-storage.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

describe('snapshots', () => {
  let database: TemporaryDatabase;
  beforeEach(async () => {
    database = temporaryDatabase();
    const storage = await database.open();
    const log = await storage.events.open('c');
    await log.append(['a', 'b', 'c', 'd'].map(message), { expectedId: 0 });
    await log.storeSnapshot({ nextId: 3, text: 'the first three' });
    await storage.close();
  });
  afterEach(() => database.dispose());

  it.each([
    ['one byte of it was changed', `UPDATE snapshots SET body = 'the first thrEe'`],
    ['it is ahead of the log', 'DELETE FROM events WHERE id >= 2'],
    ['its last event is another one', `UPDATE events SET body = replace(body, '"c"', '"z"'), checksum = 1 WHERE id = 2`],
    ['it was made of another conversation', `UPDATE snapshots SET last_checksum = 5`],
  ])('EL51: %s', async (_, sql) => {
    const db = new DatabaseSync(database.path);
    db.exec(sql);
    db.close();
    const storage = await database.open();
    const log = await storage.events.open('c');
    expect(await log.snapshot()).toBeUndefined();
    await log.append([message('e')], { expectedId: log.nextId });
    await log.storeSnapshot({ nextId: log.nextId, text: 'all' });
    expect(await log.snapshot()).toEqual({ nextId: log.nextId, text: 'all' });
  });

  it('EL51: a log that lost its end and grew again has another event there', async () => {
    const db = new DatabaseSync(database.path);
    db.exec('DELETE FROM events WHERE id >= 1');
    db.close();
    const log = await (await database.open()).events.open('c');
    await log.append(['B', 'C', 'D'].map(message), { expectedId: 1 });
    expect(log.nextId).toBe(4);
    expect(await log.snapshot()).toBeUndefined();
  });

  itInFull('EL51: wherever the write-ahead log is cut off, a snapshot is of events that are there', async () => {
    const storage = await database.open();
    const log = await storage.events.open('c');
    for (let id = log.nextId; id < 12; id++) {
      await log.append([message(`event ${id}`)], { expectedId: id });
      await log.storeSnapshot({ nextId: id + 1, text: `${id + 1} events` });
    }
    const [db, wal] = [readFileSync(database.path), readFileSync(`${database.path}-wal`)];
    const found: { readonly nextId: number; readonly text: string; readonly events: number }[] = [];
    for (let size = 0; size <= wal.length; size += 1_037) {
      const dir = mkdtempSync(join(database.dir, 'cut-'));
      const path = join(dir, 't.db');
      writeFileSync(path, db);
      writeFileSync(`${path}-wal`, wal.subarray(0, size));
      const cut = await openSqliteStorage({ path, blobDir: join(dir, 'blobs'), clock: manualClock() });
      const left = await cut.events.open('c');
      const snapshot = await left.snapshot();
      if (snapshot) found.push({ ...snapshot, events: left.nextId });
      await cut.close();
    }
    expect(found.length).toBeGreaterThan(10);
    // A snapshot is the commit after that of its last event; the first one had an event after it.
    const isSound = ({ nextId, text, events }: (typeof found)[number]): boolean =>
      nextId === 3 ? text === 'the first three' && events <= 5 : text === `${nextId} events` && [nextId, nextId + 1].includes(events);
    expect(found.filter((one) => !isSound(one))).toEqual([]);
  });

  it('EL50: an older one is there as long as no newer one is stored, and a deleted conversation leaves no row', async () => {
    const storage = await database.open();
    const log = await storage.events.open('c');
    await log.append([message('e')], { expectedId: 4 });
    expect(await log.snapshot()).toEqual({ nextId: 3, text: 'the first three' });
    await storage.events.delete('c');
    await storage.close();
    const db = new DatabaseSync(database.path);
    expect(db.prepare('SELECT count(*) AS n FROM snapshots').get()).toEqual({ n: 0 });
    db.close();
  });
});
