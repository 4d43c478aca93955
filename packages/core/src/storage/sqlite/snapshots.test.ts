/** A snapshot that is not whole, or is not of the events that the log has now, is as if it were not there. */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message } from '../contract/message.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

describe('snapshots', () => {
  let database: TemporaryDatabase;
  beforeEach(async () => {
    database = temporaryDatabase();
    const storage = await database.open();
    const log = await storage.events.open('c');
    await log.append(['a', 'b', 'c', 'd'].map(message), { expectedId: 0 });
    await log.keepSnapshot({ nextId: 3, text: 'the first three' });
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
    await log.keepSnapshot({ nextId: log.nextId, text: 'all' });
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

  it('EL50: an older one is there as long as no newer one is kept, and a deleted conversation leaves no row', async () => {
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
