/** A database of an earlier version, large enough that its copy takes a while. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { migrate, MIGRATIONS, type UpgradeProgress } from './migrations.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

const RECORDS = 20;

describe('upgrading', () => {
  let database: TemporaryDatabase;
  let copy: string;

  beforeEach(async () => {
    database = temporaryDatabase();
    copy = `${database.path}.schema-1`;
    const db = new DatabaseSync(database.path);
    await migrate(db, database.path, MIGRATIONS.slice(0, 1));
    for (let n = 0; n < RECORDS; n++) db.prepare("INSERT INTO records VALUES ('things', ?, '', hex(randomblob(500000)))").run(String(n));
    db.close();
  });
  afterEach(() => database.dispose());

  function expectWholeCopy(): void {
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(database.dir).filter((name) => name.includes('unfinished'))).toEqual([]);
    const db = new DatabaseSync(copy, { readOnly: true });
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
    expect(db.prepare('SELECT count(*) AS n FROM records').get()).toEqual({ n: RECORDS });
    db.close();
  }

  itInFull('EL56: killed in the middle of the copy, the next opening makes it anew and whole', async () => {
    const args = ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures/upgrade.ts'), database.path, database.blobDir];
    expect(spawnSync(process.execPath, args, { stdio: 'inherit' }).signal).toBe('SIGKILL');
    expect(existsSync(copy)).toBe(false);
    expect(statSync(`${copy}.unfinished`).size).toBeGreaterThan(0);
    const storage = await database.open();
    expect(storage.findings).toEqual([]);
    expectWholeCopy();
  });

  itInFull('EL56: a truncated copy, as older versions left it, is not taken for a whole one', async () => {
    writeFileSync(copy, 'half a copy', { mode: 0o644 });
    await database.open();
    expectWholeCopy();
  });

  it('EL56: the event loop is not blocked, and the progress is reported', async () => {
    const reported: UpgradeProgress[] = [];
    let turns = 0;
    let turnsWhileUpgrading = 0;
    const turn = (): void => {
      turns += 1;
      turning = setImmediate(turn);
    };
    let turning = setImmediate(turn);
    await database.open({
      onUpgrade(progress) {
        reported.push(progress);
        turnsWhileUpgrading = turns;
      },
    });
    clearImmediate(turning);
    // Between the first word and the last, and after it, while the steps ran.
    expect(turnsWhileUpgrading).toBeGreaterThan(3);
    expect(turns).toBeGreaterThan(turnsWhileUpgrading);
    expect(reported.length).toBeGreaterThan(3);
    const percents = reported.flatMap((progress) => (progress.doing === 'copying' ? [progress.percent] : []));
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(reported.at(-1)).toEqual({ doing: 'migrating', from: 1, to: MIGRATIONS.length, copy });
  });

  itInFull('EL56: a copy that the disk has no room for changes nothing', () => {
    const before = statSync(database.path).size;
    const script = 'mount -t tmpfs -o size=28m tmpfs "$0" && cp "$1" "$0/t.db" && "$2" --conditions=tendon-source "$3" "$0"';
    const program = join(import.meta.dirname, 'fixtures/upgrade-without-space.ts');
    const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, database.blobDir, database.path, process.execPath, program];
    mkdirSync(database.blobDir);
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      code: 'unusable',
      message: expect.stringContaining('Nothing was deleted'),
      left: ['t.db'],
      version: 1,
      size: before,
    });
  });
});
