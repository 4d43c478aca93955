/** Which of several servers on one database has which conversation, and what becomes of those of a server that ended. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SchedulerHandlers } from '../../scheduling/scheduler.ts';
import { message } from '../contract/message.ts';
import type { Storage } from '../storage.ts';
import { TemporaryDatabase } from './temporary-database.test-support.ts';

const fenced = { name: 'StorageError', code: 'fenced' };
const alone = (id: string) => ({ id, rootId: id });

describe('servers that share a database', () => {
  let database: TemporaryDatabase;
  beforeAll(async () => {
    database = await TemporaryDatabase.create();
  });
  afterEach(() => database.empty());

  const server = (name: string, takesConversations = true): Promise<Storage> =>
    database.open({ shared: { url: `http://${name}:3000`, takesConversations } });
  const begin = ({ scheduler }: Storage, handlers: Partial<SchedulerHandlers> = {}) => {
    const woken: string[] = [];
    scheduler.start({
      wake: async (ids) => void woken.push(...ids),
      standDown: async () => undefined,
      load: () => 0,
      ...handlers,
    });
    return woken;
  };
  const ownerOf = async ({ scheduler }: Storage, id: string): Promise<string> => {
    const place = await scheduler.find(id);
    return place.at === 'peer' ? place.server.url : place.at;
  };
  /** As if its process had been stopped for longer than its lease lasts, and another one had looked. */
  const freeze = async ({ scheduler }: Storage): Promise<void> => {
    await database.sql(`UPDATE tendon.servers SET ended = true WHERE id = '${scheduler.self!.id}'`);
  };
  const mark = ({ records }: Storage, id: string) => records.put('active', { id, sort: '', value: {} });

  it('EN1080: a conversation is claimed once, with all that were delegated in it, and only its owner appends', async () => {
    const [one, two] = [await server('one'), await server('two')];
    expect(await ownerOf(one, 'c')).toBe('nowhere');
    const claims = await Promise.all([one, two].map(({ scheduler }) => scheduler.claim(alone('c'))));
    expect(claims.map(({ at }) => at).toSorted()).toEqual(['here', 'peer']);
    const [owner, other] = claims[0]!.at === 'here' ? [one, two] : [two, one];
    expect([await ownerOf(owner, 'c'), await ownerOf(other, 'c')]).toEqual(['here', owner.scheduler.self!.url]);
    await owner.scheduler.claim({ id: 'part', rootId: 'c' });
    expect(await ownerOf(other, 'part')).toBe(owner.scheduler.self!.url);
    expect(await other.scheduler.claim({ id: 'part', rootId: 'c' })).toMatchObject({ at: 'peer' });
    await (await owner.events.open('part')).append([message('a')], { expectedId: 0 });
    await expect((await other.events.open('part')).append([message('b')], { expectedId: 1 })).rejects.toMatchObject(fenced);
    await expect(other.events.delete('part')).rejects.toMatchObject(fenced);
  });

  it('EN1081: a log that was open before it was claimed is appended to', async () => {
    const one = await server('one');
    const log = await one.events.open('c');
    await one.scheduler.claim(alone('c'));
    await log.append([message('a')], { expectedId: 0 });
    expect([log.nextId, one.scheduler.epochOf('c')]).toEqual([1, 1]);
  });

  it('EN1082: what a frozen server had at work is taken over once, under a greater epoch; back again, it stands down and comes anew', async () => {
    const [zombie, ...others] = [await server('zombie'), await server('two'), await server('three')];
    const stoodDown = Promise.withResolvers<void>();
    const oldId = zombie.scheduler.self!.id;
    begin(zombie, { standDown: async () => stoodDown.resolve() });
    for (const id of ['a', 'b', 'idle']) await zombie.scheduler.claim(alone(id));
    await zombie.scheduler.claim({ id: 'part', rootId: 'a' });
    const log = await zombie.events.open('part');
    await log.append([message('before')], { expectedId: 0 });
    for (const id of ['part', 'b']) await mark(zombie, id);
    const woken = others.map((each) => begin(each));
    await freeze(zombie);
    await expect.poll(() => woken.flat().toSorted()).toEqual(['a', 'b', 'part']);
    await expect(log.append([message('late')], { expectedId: 1 })).rejects.toMatchObject(fenced);
    await stoodDown.promise;
    await expect.poll(() => zombie.scheduler.self!.id).not.toBe(oldId);
    const taker = others.find(({ scheduler }) => scheduler.epochOf('part') === 2)!;
    expect(await ownerOf(zombie, 'part')).toBe(taker.scheduler.self!.url);
    expect(await ownerOf(zombie, 'idle')).toBe('nowhere');
    expect(await zombie.scheduler.claim(alone('idle'))).toEqual({ at: 'here' });
    expect((await (await taker.events.open('part')).read()).length).toBe(1);
    await expect.poll(() => database.sql(`SELECT count(*) FROM tendon.servers WHERE id = '${oldId}'`)).toBe('0');
  });

  it('EN1101: of servers that look at the same moment for what nobody has, one takes each conversation', async () => {
    const gone = await server('gone');
    const ids = Array.from({ length: 256 }, (_, at) => `c${at}`);
    for (const id of ids) await Promise.all([gone.scheduler.claim(alone(id)), mark(gone, id)]);
    const others = await Promise.all(['two', 'three', 'four', 'five'].map((name) => server(name)));
    await gone.close();
    const woken = others.map((each) => begin(each));
    await expect.poll(() => new Set(woken.flat()).size).toBe(ids.length);
    expect(woken.flat()).toHaveLength(ids.length);
    for (const [at, { scheduler }] of others.entries()) for (const id of woken[at]!) expect([id, scheduler.epochOf(id)]).toEqual([id, 2]);
  });

  it('EN1100: what every server watches is written under the next lease, what a conversation has is refused; so a claim waits', async () => {
    const one = await server('one');
    const closing = Promise.withResolvers<void>();
    begin(one, { standDown: () => closing.promise });
    one.records.watch('settings', () => undefined);
    await one.scheduler.claim(alone('a'));
    const oldId = one.scheduler.self!.id;
    await freeze(one);
    await expect(one.records.put('conversations', { id: 'a', sort: '', value: 1 })).rejects.toMatchObject(fenced);
    const written = [
      one.records.put('settings', { id: 'put', sort: '', value: 1 }),
      one.records.update<number>('settings', 'updated', (now = 0) => ({ sort: '', value: now + 1 })),
      one.scheduler.claim(alone('b')),
    ];
    closing.resolve();
    expect((await Promise.all(written)).slice(1)).toEqual([1, { at: 'here' }]);
    expect(one.scheduler.self!.id).not.toBe(oldId);
    const stored = (await one.records.list('settings')).map(({ id, value }) => [id, value]);
    expect(Object.fromEntries(stored)).toEqual({ put: 1, updated: 1 });
  });

  it('EN1083: a server that gives up a conversation and takes no more has it no longer, and another goes on with it', async () => {
    const [leaving, staying] = [await server('leaving'), await server('staying')];
    begin(leaving);
    await leaving.scheduler.claim(alone('c'));
    await mark(leaving, 'c');
    const woken = begin(staying);
    await leaving.scheduler.retire();
    expect(leaving.scheduler.self?.takesConversations).toBe(false);
    expect(woken).toEqual([]);
    await leaving.scheduler.release(['c']);
    await expect.poll(() => woken).toEqual(['c']);
    expect(await ownerOf(leaving, 'c')).toBe('http://staying:3000');
  });

  it('EN1084: a gateway takes over nothing, and servers know each other by address and load', async () => {
    const worker = await server('worker');
    begin(worker, { load: () => 7 });
    await worker.scheduler.claim(alone('c'));
    await mark(worker, 'c');
    const gateway = await server('gateway', false);
    const woken = begin(gateway);
    await expect
      .poll(async () =>
        (await gateway.scheduler.servers()).map(({ url, takesConversations, load }) => [url, takesConversations, load]).toSorted(),
      )
      .toEqual([
        ['http://gateway:3000', false, 0],
        ['http://worker:3000', true, 7],
      ]);
    await freeze(worker);
    await expect.poll(() => database.sql(`SELECT count(*) FROM tendon.servers WHERE NOT ended`)).toBe('2');
    expect(woken).toEqual([]);
  });

  it('EN1085: a server with the database alone, and one that shares it, refuse each other', async () => {
    await server('one');
    await expect(database.open()).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('TENDON_ADVERTISE_URL') });
    await database.empty();
    await database.open();
    await expect(server('one')).rejects.toMatchObject({ code: 'locked' });
  });

  it('EN1086: marks that a cut-off deletion left alone are taken by one server', async () => {
    const [one, two] = [await server('one'), await server('two')];
    await mark(one, 'gone');
    const woken = [begin(one), begin(two)];
    await expect.poll(() => woken.flat()).toEqual(['gone']);
  });
});
