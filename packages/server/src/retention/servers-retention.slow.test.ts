import { sharedPostgres } from '@tendon/testing/postgres';
import type { AuditEntry } from '@tendon/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { testServer, type TestServer } from '../server.test-support.ts';

const DAY_MS = 86_400_000;
/** More than one pass deletes. */
const MANY = 105;

it(
  'SV1382: of several servers each deletes what is its own, one at a time, pass by pass, and no conversation twice',
  { timeout: 240_000 },
  async () => {
    const cluster = await sharedPostgres();
    const name = `retention_${process.pid}`;
    const url = await cluster.createDatabase(name);
    onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
    let ahead = 0;
    const clock = {
      now: () => new Date(Date.now() + ahead),
      sleep: (ms: number, options: { readonly signal: AbortSignal }) => systemClock.sleep(Math.min(ms, 50), options),
    };
    const open = (port: string): Promise<TestServer> =>
      testServer({
        clock,
        env: {
          TENDON_DATABASE_URL: url,
          JWT_SECRET: 'the same on all servers of the test',
          TENDON_ADVERTISE_URL: `http://127.0.0.1:${port}`,
          TENDON_RETENTION_DAYS: '30',
        },
      });
    const servers = [await open('1'), await open('2')];
    const made: string[] = [];
    for (const server of servers) {
      const begun = await Promise.all(Array.from({ length: MANY }, () => server.engine.conversations.create({})));
      made.push(...begun.map((one) => (one.ok ? one.record.id : one.error.message)));
    }
    expect(new Set(made).size).toBe(2 * MANY);
    ahead = 31 * DAY_MS;
    const { records } = servers[0]!.engine.storage;
    await expect.poll(async () => (await records.list('conversations')).length, { timeout: 120_000 }).toBe(0);
    await expect.poll(async () => (await records.list('active')).length, { timeout: 30_000 }).toBe(0);
    const entries = (await records.list<AuditEntry>('audit')).map(({ value }) => value);
    const deleted = entries.filter(({ action }) => action === 'conversation.deleted');
    expect(deleted.map(({ target }) => target).toSorted()).toEqual(made.toSorted());
    expect(new Set(deleted.map(({ server }) => server)).size).toBe(1); // both are in this process
    await expect.poll(() => records.get<{ until: number }>('retention', 'lease')).toMatchObject({ until: 0 });
  },
);
