/** The index of titles: what it reads, how it indexes an older store, and what happens when it is damaged. */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Storage } from '../storage.ts';
import { MIGRATIONS, migrate } from './migrations.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

const BEFORE_TITLES = MIGRATIONS.findIndex((sql) => sql.includes('title_text'));

describe('EL46: the index of titles', () => {
  let database: TemporaryDatabase;
  beforeEach(() => {
    database = temporaryDatabase();
  });
  afterEach(() => database.dispose());

  function edit<T>(change: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(database.path, { defensive: false });
    try {
      return change(db);
    } finally {
      db.close();
    }
  }

  const idsTitled = async ({ records }: Storage, titled: string) => (await records.list('conversations', { titled })).map(({ id }) => id);
  const taken = (): unknown =>
    edit((db) => db.prepare('SELECT count(*) AS noted, (SELECT count(*) FROM titles) AS titles FROM titles_changed').get());

  /** A store of the schema before the index, with this many conversations. */
  async function old(count: number): Promise<void> {
    const db = new DatabaseSync(database.path);
    try {
      await migrate(db, database.path, MIGRATIONS.slice(0, BEFORE_TITLES));
      const put = db.prepare("INSERT INTO records VALUES ('conversations', ?, ?, ?)");
      db.exec('BEGIN');
      for (let n = 0; n < count; n++) put.run(`c${n}`, String(n).padStart(6, '0'), JSON.stringify({ title: `old number ${n}` }));
      put.run('spoiled', '', '{"title":');
      db.exec("COMMIT; DELETE FROM records WHERE id = 'spoiled'");
    } finally {
      db.close();
    }
  }

  it('indexes an older store in the background of the first search, which finds everything all the same', async () => {
    await old(1_000);
    const storage = await database.open();
    expect(taken()).toEqual({ noted: 1_000, titles: 0 }); // opening does not wait for the index
    expect(await idsTitled(storage, 'NUMBER 77')).toEqual([
      'c779',
      'c778',
      'c777',
      'c776',
      'c775',
      'c774',
      'c773',
      'c772',
      'c771',
      'c770',
      'c77',
    ]);
    await storage.records.put('conversations', { id: 'c5', sort: '000005', value: { title: 'renamed meanwhile' } });
    await storage.records.delete('conversations', 'c6');
    await expect.poll(async () => (await idsTitled(storage, 'number'), taken())).toEqual({ noted: 0, titles: 999 });
    expect(await idsTitled(storage, 'number 99')).toHaveLength(11);
    expect(await idsTitled(storage, 'old number 5')).not.toContain('c5');
    expect(await idsTitled(storage, 'NAMED MEAN')).toEqual(['c5']);
    expect(await idsTitled(storage, 'number 6')).not.toContain('c6');
  });

  it('words that it cannot contain are searched for in the records, without blocking the event loop', async () => {
    await old(1_000);
    const storage = await database.open();
    let turns = 0;
    let isOver = false;
    const count = (): void => void (isOver || (turns++, setImmediate(count)));
    count();
    const { length } = await idsTitled(storage, '99');
    isOver = true;
    expect(length).toBe(19);
    expect(turns).toBeGreaterThanOrEqual(5); // of 200 records each
  });

  it('continues where the last process was killed', async () => {
    await old(700);
    await (await database.open()).close();
    edit((db) => {
      db.exec("INSERT INTO titles (id, sort, title) SELECT id, sort, 'old' FROM records WHERE id <= 'c3'");
      db.exec("DELETE FROM titles_changed WHERE id <= 'c3'");
    });
    const storage = await database.open();
    await idsTitled(storage, 'number');
    await expect.poll(taken).toEqual({ noted: 0, titles: 700 });
  });

  it('is not part of a put: titles are only noted until a search', async () => {
    const storage = await database.open();
    await storage.records.put('conversations', { id: 'c', sort: '1', value: { title: 'needle' } });
    expect(taken()).toEqual({ noted: 1, titles: 0 });
    edit((db) => db.exec('DROP TABLE title_text_data'));
    await storage.records.put('conversations', { id: 'd', sort: '2', value: { title: 'needle too' } });
    expect(await idsTitled(storage, 'needle')).toEqual(['d', 'c']);
  });

  it('one that cannot be read only makes searches slower', async () => {
    const storage = await database.open();
    for (const n of [1, 2]) await storage.records.put('conversations', { id: `c${n}`, sort: String(n), value: { title: `needle ${n}` } });
    await idsTitled(storage, 'needle');
    expect(taken()).toEqual({ noted: 0, titles: 2 });
    edit((db) => db.exec('DROP TABLE title_text_data'));
    expect(await idsTitled(storage, 'NEEDLE')).toEqual(['c2', 'c1']);
  });

  it('holds each title once, whatever is put again', async () => {
    const storage = await database.open();
    for (const model of ['', 'a', 'b'])
      await storage.records.put('conversations', { id: 'c', sort: '1', value: { title: 'needle', model } });
    await storage.records.put('settings', { id: 'c', sort: '1', value: { title: 'needle' } });
    expect(await idsTitled(storage, 'needle')).toEqual(['c']);
    await storage.records.put('conversations', { id: 'c', sort: '1', value: { title: 'needle', model: 'c' } });
    expect(taken()).toEqual({ noted: 0, titles: 1 }); // what changed is not its title
    expect(edit((db) => db.prepare('SELECT * FROM titles').all())).toEqual([{ number: 1, id: 'c', sort: '1', title: 'needle' }]);
    await storage.records.delete('conversations', 'c');
    expect(await idsTitled(storage, 'needle')).toEqual([]);
    expect(edit((db) => db.prepare("SELECT count(*) AS n FROM title_text WHERE title_text MATCH 'needle'").get())).toEqual({ n: 0 });
  });
});
