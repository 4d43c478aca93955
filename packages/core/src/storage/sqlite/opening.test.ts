/** Who may open a database, and what opening makes of one that is older, newer, foreign or held by another process. */
import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message } from '../contract/message.ts';
import { assertOurs, migrate, MIGRATIONS } from './migrations.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

describe('opening', () => {
  let database: TemporaryDatabase;
  beforeEach(() => {
    database = temporaryDatabase();
  });
  afterEach(() => database.dispose());

  it('EL19: a second server learns the pid of the first, and may open once that is dead, however it died', async () => {
    const writer = join(import.meta.dirname, 'fixtures/writer.ts');
    const args = ['--conditions=tendon-source', writer, database.path, database.blobDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = new Promise((resolve) => child.once('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await expect(database.open()).rejects.toMatchObject({
      name: 'StorageError',
      code: 'locked',
      message: expect.stringContaining(`process ${child.pid}`),
    });
    child.kill('SIGKILL');
    await closed;
    const storage = await database.open();
    expect((await storage.events.open('a')).nextId).toBeGreaterThan(0);
  });

  it('EL19: not even the same process opens it twice; closing gives it free', async () => {
    const first = await database.open();
    await expect(database.open()).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining(`process ${process.pid}`) });
    // The failed try has not taken the lock from the first.
    await expect(database.open()).rejects.toMatchObject({ code: 'locked' });
    await first.close();
    await expect(database.open()).resolves.toBeDefined();
  });

  it('EL20: a database of a newer version is refused and left as it is', async () => {
    await (await database.open()).close();
    await edit((db) => db.exec('PRAGMA user_version = 99'));
    const before = readFileSync(database.path);
    await expect(database.open()).rejects.toMatchObject({
      code: 'newer',
      message: expect.stringMatching(/newer version.*99.*update Tendon/),
    });
    expect(readFileSync(database.path).equals(before)).toBe(true);
  });

  it('EL20: a database of another program is refused and left as it is', async () => {
    await edit((db) => db.exec('CREATE TABLE theirs (x)'));
    const before = readFileSync(database.path);
    await expect(database.open()).rejects.toMatchObject({ code: 'foreign' });
    expect(readFileSync(database.path).equals(before)).toBe(true);
  });

  it('EL20: a file that is no database is refused and left as it is', async () => {
    writeFileSync(database.path, 'these are notes '.repeat(1000));
    await expect(database.open()).rejects.toMatchObject({ code: 'unusable', message: expect.stringContaining('Nothing was deleted') });
    expect(readFileSync(database.path, 'utf8')).toBe('these are notes '.repeat(1000));
  });

  it('EL20: a step runs once, a failing one leaves what was before, and a copy is retained', async () => {
    const storage = await database.open();
    await (await storage.events.open('c')).append([message('stored')], { expectedId: 0 });
    await storage.close();
    const added = [...MIGRATIONS, 'CREATE TABLE one (x)', 'CREATE TABLE two (x); SELECT no_such_function()'];
    await edit((db) => expect(migrate(db, database.path, added)).rejects.toThrow('no_such_function'));
    await edit(async (db) => {
      expect(names(db)).toContain('one');
      expect(names(db)).not.toContain('two');
      await migrate(db, database.path, [...added.slice(0, -1), 'CREATE TABLE two (x)']);
      expect(names(db)).toContain('two');
      expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: added.length });
      expect(() => assertOurs(db, database.path)).toThrow(/newer version/);
    });
    const copy = new DatabaseSync(`${database.path}.schema-${MIGRATIONS.length}`, { readOnly: true });
    expect(names(copy)).not.toContain('one');
    expect(copy.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 1 });
    copy.close();
  });

  it('SV201: a store of an earlier schema knows what each conversation delegated', async () => {
    await edit(async (db) => {
      await migrate(db, database.path, MIGRATIONS.slice(0, 1));
      const put = db.prepare("INSERT INTO records VALUES ('conversations', ?, ?, ?)");
      put.run('parent', '1', '{"title":"parent"}');
      put.run('child', '2', '{"delegated_by":{"conversation_id":"parent","action_id":3}}');
      put.run('spoiled', '3', '{"delegated_by":');
    });
    const { records } = await database.open();
    expect(await records.list('delegations/parent')).toEqual([{ id: 'child', sort: '2', value: {} }]);
    expect(await records.get('conversations', 'child')).toEqual({ delegated_by: { conversation_id: 'parent', action_id: 3 } });
  });

  it('EL30: events of a database from before epochs have the empty one', async () => {
    await edit(async (db) => {
      await migrate(db, database.path, MIGRATIONS.slice(0, 1));
      db.exec("INSERT INTO events VALUES ('c', 0, '2026-01-01T00:00:00.000Z', 'user', '{}', NULL, 0)");
    });
    const log = await (await database.open()).events.open('c');
    await log.append([message('new')], { expectedId: 1 });
    expect([0, 1].map((id) => log.epochOf(id))).toEqual(['', expect.stringMatching(/^[0-9a-f]{16}$/)]);
  });

  it('EL20: only its owner can read the database', async () => {
    await database.open();
    for (const name of ['', '-wal', '-shm', '.pid']) expect(statSync(database.path + name).mode & 0o077).toBe(0);
  });

  async function edit(change: (db: DatabaseSync) => unknown): Promise<void> {
    const db = new DatabaseSync(database.path);
    await change(db);
    db.close();
  }
});

function names(db: DatabaseSync): unknown[] {
  return db
    .prepare('SELECT name FROM sqlite_schema')
    .all()
    .map(({ name }) => name);
}
