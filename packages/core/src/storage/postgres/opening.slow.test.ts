/** What opening a database does, and why it may not. */
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { contentOf, message } from '../contract/message.ts';
import { Database } from './database.ts';
import { migrate, MIGRATIONS } from './schema.ts';
import { expectReports } from './expect-reports.test-support.ts';
import { TemporaryDatabase } from './temporary-database.test-support.ts';

let database: TemporaryDatabase;
beforeEach(async () => {
  database = await TemporaryDatabase.create();
});
afterEach(() => database.close());

it('EN1067: servers that begin at once make the schema once; an index that was interrupted is made again', async () => {
  const connections = [1, 2, 3].map(() => new Database(database.url));
  await Promise.all(connections.map((one) => migrate(one, MIGRATIONS.slice(0, 1))));
  await database.sql(
    `CREATE INDEX records_by_sort ON tendon.records (collection);
     UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tendon.records_by_sort'::regclass`,
  );
  await migrate(connections[0]!);
  expect(await database.sql('SELECT version FROM tendon.schema')).toBe(String(MIGRATIONS.length));
  expect(await database.sql(`SELECT pg_get_indexdef('tendon.records_by_sort'::regclass)`)).toContain('(collection, sort, id)');
  await Promise.all(connections.map((one) => one.close()));
});

it('EN1067: a server goes on while a later version adds to the schema; one of an earlier version does not begin on it', async () => {
  const storage = await database.open();
  const log = await storage.events.open('c');
  await log.append([message('0')], { expectedId: 0 });
  const later = new Database(database.url);
  await migrate(later, [...MIGRATIONS, 'ALTER TABLE tendon.events ADD COLUMN later text', { index: 'later', on: 'tendon.events (later)' }]);
  await later.close();
  await log.append([message('1')], { expectedId: 1 });
  expect((await log.read()).map(contentOf)).toEqual(['0', '1']);
  await expect(database.open()).rejects.toMatchObject({ code: 'newer', message: expect.stringContaining('update Tendon') });
});

it('EN1068: a wrong address is refused with what is wrong and what to do, and never with the password', async () => {
  const socket = new URL(database.url).searchParams.get('host')!;
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['mysql://me:hush-hush@db/x', 'unusable', /postgres:\/\/USER:PASSWORD@HOST/],
    ['postgres://me:hush-hush@db.example.org/x', 'unusable', /sslmode=verify-full/],
    ['postgres://me:hush-hush@127.0.0.1:9/x', 'unusable', /127\.0\.0\.1:9\/x.*Start it, or correct/],
    [`postgres://postgres:hush-hush@localhost/none_such?host=${encodeURIComponent(socket)}`, 'unusable', /none_such.*createdb/],
    [`postgres://nobody:hush-hush@localhost/${database.name}?host=${encodeURIComponent(socket)}`, 'unusable', /nobody.*Correct the user/],
  ];
  for (const [url, code, words] of cases) {
    const error = await database.open({ url }).then(
      () => undefined,
      (cause: Error) => cause,
    );
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(error!.message).not.toContain('hush-hush');
  }
  await database.sql(`CREATE ROLE guest LOGIN; ALTER DATABASE ${database.name} OWNER TO postgres`);
  onTestFinished(() => database.sql('DROP ROLE guest').then(() => undefined));
  await expect(database.open({ url: database.url.replace('postgres@', 'guest@') })).rejects.toThrow(/right to create a schema/);
});

it('EN1068: a database that may lose acknowledged commits is a finding', async () => {
  await database.sql(`ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  expect((await database.open()).findings).toEqual([expect.stringContaining('synchronous_commit')]);
});

it('EN1066: it works through PgBouncer in transaction mode', async () => {
  const { dir } = database.cluster;
  const config = join(dir, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `${database.name} = host=${dir} user=postgres`,
    '[pgbouncer]',
    `listen_port = 6432\nunix_socket_dir = ${dir}`,
    'auth_type = any\npool_mode = transaction\ndefault_pool_size = 3',
    ...(process.getuid!() === 0 ? ['user = postgres'] : []),
  ];
  writeFileSync(config, `${settings.join('\n')}\n`);
  chmodSync(config, 0o644);
  const bouncer = spawn('pgbouncer', [config], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void bouncer.kill('SIGINT'));
  await new Promise<void>((resolve, reject) => {
    bouncer.once('exit', (code) => reject(new Error(`PgBouncer ended with ${code}`)));
    createInterface({ input: bouncer.stderr }).on('line', (line) => line.includes('process up') && resolve());
  });
  const storage = await database.open({ url: `${database.url}&port=6432` });
  const logs = await Promise.all(['a', 'b', 'c'].map((id) => storage.events.open(id)));
  await Promise.all(
    logs.map(async (log) => {
      for (let id = 0; id < 20; id++) {
        await log.append([message(`${id}${'x'.repeat(20_000 * (id % 2))}`)], { expectedId: id });
        await storage.records.put('things', { id: `${log.conversationId}${id}`, sort: String(id), value: { title: `thing ${id}` } });
      }
    }),
  );
  for (const log of logs) expect((await log.read()).map((event) => Number.parseInt(contentOf(event), 10))).toEqual([...Array(20).keys()]);
  expect(await storage.records.list('things', { titled: 'ing 19' })).toHaveLength(3);
  await storage.events.delete('a');
  await expectReports(storage, await database.open({ url: `${database.url}&port=6432`, beside: true }));
});
