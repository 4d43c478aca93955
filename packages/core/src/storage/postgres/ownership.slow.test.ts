/** Several servers on one database: who may write, and what two that write at once leave. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AppendConflict, type EventLog } from '../../log/event-log.ts';
import { contentOf, message } from '../contract/message.ts';
import { expectReports } from './expect-reports.test-support.ts';
import { TemporaryDatabase } from './temporary-database.test-support.ts';

describe('several servers', () => {
  let database: TemporaryDatabase;
  beforeAll(async () => {
    database = await TemporaryDatabase.create();
  });
  afterEach(() => database.empty());

  it('EN1061: a later server fences the earlier one off, whatever that writes, and sees all that it wrote before', async () => {
    const zombie = await database.open();
    const log = await zombie.events.open('c');
    await log.append([message('before')], { expectedId: 0 });
    await database.sql('UPDATE tendon.servers SET until = now()'); // it was frozen for so long
    const owner = await database.open();
    expect((await (await owner.events.open('c')).read()).map(contentOf)).toEqual(['before']);

    await expect.poll(() => zombie.findings).toEqual([expect.stringContaining('stands down')]);
    const fenced = { name: 'StorageError', code: 'fenced' };
    await expect(log.append([message('late')], { expectedId: 1 })).rejects.toMatchObject(fenced);
    await expect(log.storeSnapshot({ nextId: 1, text: 'late' })).rejects.toMatchObject(fenced);
    await expect(zombie.records.put('things', { id: 'a', sort: '', value: 1 })).rejects.toMatchObject(fenced);
    await expect(zombie.records.delete('things', 'a')).rejects.toMatchObject(fenced);
    await expect(zombie.events.delete('c')).rejects.toMatchObject(fenced);
    const now = await owner.events.open('c');
    expect([now.nextId, await now.snapshot(), await owner.records.get('things', 'a')]).toEqual([1, undefined, undefined]);
    await now.append([message('after')], { expectedId: 1 });
    expect((await now.read()).map(contentOf)).toEqual(['before', 'after']);
  });

  it('EN1063: one server has a database; another is refused with its name as long as it lives', async () => {
    await database.open();
    await expect(database.open()).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining(`process ${process.pid} on `) });
  });

  it('EN1063: a server that is not heard of any more is followed when its lease is over, and one that left at once', async () => {
    const first = await database.open();
    await first.close();
    await database.sql(`UPDATE tendon.servers SET ended = false, until = now() + interval '1 second'`);
    await (await database.open()).close();
    await database.open();
    expect(await database.sql('SELECT count(*) FROM tendon.servers')).toBe('1');
  });

  it('EN1062: of two that write to one log at once none doubles or loses an id, and each finds what the other wrote', async () => {
    const one = await database.open();
    const two = await database.open({ beside: true });
    const logs = [await one.events.open('c'), await two.events.open('c')] as const;
    const write = async (log: EventLog, name: string): Promise<number> => {
      let conflicts = 0;
      for (let n = 0; n < 30;) {
        try {
          await log.append([message(`${name}${n}`)], { expectedId: log.nextId });
          n += 1;
        } catch (error) {
          if (!(error instanceof AppendConflict)) throw error;
          conflicts += 1;
        }
      }
      return conflicts;
    };
    const conflicts = await Promise.all([write(logs[0], 'one'), write(logs[1], 'two')]);
    expect(Math.max(...conflicts)).toBeGreaterThan(0);
    const fresh = await database.open({ beside: true });
    const events = await (await fresh.events.open('c')).read();
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, id) => id));
    for (const name of ['one', 'two'])
      expect(events.map(contentOf).filter((content) => content.startsWith(name))).toEqual(
        Array.from({ length: 30 }, (_, n) => `${name}${n}`),
      );
    const epochs = await (await fresh.events.open('c')).read().then((all) => new Set(all.map(({ id }) => logs[0].epochOf(id))));
    expect(epochs.size).toBeLessThanOrEqual(2);
  });

  it('EN1073: what another server changes in a watched collection is reported', async () => {
    const one = await database.open();
    const two = await database.open({ beside: true });
    await expectReports(one, two);
  });

  it('EN1073: a change that its watcher could not read is reported again until it can', async () => {
    const one = await database.open();
    const two = await database.open({ beside: true });
    const seen: unknown[] = [];
    let refusals = 2;
    two.records.watch('settings', async () => {
      const value = await two.records.get('settings', 'default');
      if (value !== undefined && refusals-- > 0) throw new Error('not now');
      seen.push(value);
    });
    one.records.watch('settings', () => undefined);
    await one.records.put('settings', { id: 'default', sort: '', value: 1 });
    await expect.poll(() => seen.at(-1)).toBe(1);
    expect(refusals).toBeLessThan(0);
  });

  it('EN1069: payloads of every size are in the database, and go with their log', async () => {
    const storage = await database.open();
    const log = await storage.events.open('c');
    const contents = ['small', 'é'.repeat(20_000), 'x\ud800'.repeat(400_000)];
    await log.append(contents.map(message), { expectedId: 0 });
    await (await storage.events.open('other')).append([message('a'.repeat(20_000))], { expectedId: 0 });
    const fresh = await (await database.open({ beside: true })).events.open('c');
    expect((await fresh.read()).map(contentOf)).toEqual(contents);
    const count = () => database.sql('SELECT count(*) FROM tendon.payloads');
    expect(await count()).toBe('3');
    await storage.events.delete('c');
    expect(await count()).toBe('1');
  });

  it('EN1060: appends that wait for another share one commit over all conversations, and a loser in it costs no other its place', async () => {
    const storage = await database.open();
    const logs = await Promise.all(['a', 'b', 'c', 'd'].map((id) => storage.events.open(id)));
    const appends = logs.flatMap((log) => Array.from({ length: 10 }, (_, id) => log.append([message('x')], { expectedId: id })));
    const late = logs[0]!.append([message('late')], { expectedId: 3 });
    await expect(late).rejects.toMatchObject({ name: 'AppendConflict', expectedId: 3, nextId: 10 });
    await Promise.all(appends);
    expect(await database.sql('SELECT count(*), count(DISTINCT xmin::text) FROM tendon.events')).toBe('40|1');
  });
});
