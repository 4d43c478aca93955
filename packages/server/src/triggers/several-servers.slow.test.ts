/** Schedules of several servers on one Postgres: one of them fires each, and another one where that has ended. */
import type { Clock } from '@tendon/core';
import { sharedPostgres } from '@tendon/testing/postgres';
import { freePort, itInFull } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { nearestServer, triggerName } from '../platform/nearest-server.ts';
import { systemClock } from '../platform/system-clock.ts';
import { testServer, type TestServer } from '../server.test-support.ts';
import { addTrigger, conversationCount, deliveriesOf, endOf } from './triggers.test-support.ts';

const SCRIPT = [{ text: 'Done.' }];
const HOURLY = { kind: 'schedule', prompt: 'Look after it.', schedule: { cron: '0 * * * *' } };

class HandClock implements Clock {
  #now = new Date('2026-05-01T08:30:00Z');
  readonly sleep: Clock['sleep'] = (ms, options) => systemClock.sleep(Math.min(ms, 100), options);
  now(): Date {
    return this.#now;
  }
  set(time: string): void {
    this.#now = new Date(time);
  }
}

let databases = 0;

async function place() {
  const cluster = await sharedPostgres();
  const name = `triggers_${process.pid}_${(databases += 1)}`;
  const url = await cluster.createDatabase(name);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  const clock = new HandClock();
  const add = async (env: Readonly<Record<string, string>> = {}): Promise<TestServer> => {
    const port = String(await freePort());
    const address = { PORT: port, TENDON_ADVERTISE_URL: `http://127.0.0.1:${port}` };
    const shared = { TENDON_DATABASE_URL: url, JWT_SECRET: 'the same on every server' };
    return testServer({ script: SCRIPT, clock, env: { ...address, ...shared, ...env } });
  };
  return { clock, add, sql: (text: string) => cluster.sql(name, text) };
}

const ticksOf = async (server: TestServer, id: string): Promise<readonly string[]> =>
  (await deliveriesOf(server, { id })).map(({ name, state }) => `${name} ${state}`);

itInFull('SV1263: of several servers one fires a schedule, and a change at any of them holds', async () => {
  const { clock, add } = await place();
  const [one, two, gateway] = [await add(), await add(), await add({ TENDON_ROLE: 'gateway' })];
  const triggers = await Promise.all([one, two, gateway, one].map((server) => addTrigger(server, HOURLY)));
  const paused = triggers[3]!;
  const answer = await fetch(`${two.url}/api/triggers/${paused.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: false }),
  });
  expect(answer.status).toBe(200);
  for (const { engine } of [one, two, gateway])
    await expect.poll(() => engine.triggers.store.list.map(({ enabled }) => enabled).toSorted()).toEqual([false, true, true, true]);
  clock.set('2026-05-01T09:00:00Z');
  for (const trigger of triggers.slice(0, 3)) expect(await endOf(gateway, trigger)).toMatchObject({ state: 'done' });
  clock.set('2026-05-01T10:00:10Z');
  for (const { id } of triggers.slice(0, 3))
    await expect.poll(() => ticksOf(two, id)).toEqual(['2026-05-01T10:00:00.000Z done', '2026-05-01T09:00:00.000Z done']);
  expect([await ticksOf(two, paused.id), await conversationCount(gateway)]).toEqual([[], 6]);
  expect(gateway.engine.conversations.openCount).toBe(0);
});

it('SV1263: what a server was to fire that ended without a word, another one fires when its lease is over', async () => {
  const { clock, add, sql } = await place();
  const server = await add();
  // As a server leaves it that was killed on another machine.
  await sql(
    `INSERT INTO tendon.servers (id, url, holder, takes, load, since, until)
     VALUES ('killed', 'http://127.0.0.1:9', '{"host":"b","machine":"","pid":1,"since":""}', true, 0, now(), now() + interval '1 hour')`,
  );
  const { self } = server.engine.scheduler;
  const killed = { ...self!, id: 'killed' };
  const isIts = ({ id }: { readonly id: string }): boolean => nearestServer(triggerName(id), [self!, killed]) === killed;
  await expect.poll(async () => (await server.engine.scheduler.servers()).length).toBe(2);
  const own = await addedUntil(server, (trigger) => !isIts(trigger));
  // It is looked at first: the newest is.
  const its = await addedUntil(server, isIts);
  clock.set('2026-05-01T09:00:00Z');
  expect(await endOf(server, own)).toMatchObject({ state: 'done' });
  expect(await ticksOf(server, its.id)).toEqual([]);
  await sql(`UPDATE tendon.servers SET until = now() WHERE id = 'killed'`);
  expect(await endOf(server, its)).toMatchObject({ name: '2026-05-01T09:00:00.000Z', state: 'done' });
});

/** The names of triggers are random, and so is which server each is nearest to. */
async function addedUntil(server: TestServer, isMeant: (trigger: { readonly id: string }) => boolean): Promise<{ readonly id: string }> {
  for (;;) {
    const trigger = await addedTo(server);
    if (isMeant(trigger)) return trigger;
    await fetch(`${server.url}/api/triggers/${trigger.id}`, { method: 'DELETE' });
  }
}

/** Whatever the server of its own is: a request about it would be led there. */
async function addedTo({ engine }: TestServer): Promise<{ readonly id: string }> {
  const none = { mention: null, repository: null, branch: null, git_provider: null, agent: null, posts_result: false, post_to: null };
  const schedule = { cron: '0 * * * *', time_zone: 'UTC' };
  const trigger = await engine.triggers.store.create(
    { ...none, name: 'hourly', kind: 'schedule', schedule, max_per_hour: 30, prompt: 'Look.' },
    undefined,
  );
  engine.triggers.schedules.changed();
  return trigger!;
}
