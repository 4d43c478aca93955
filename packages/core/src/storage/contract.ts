/**
 * The contract suite of `Storage`: every backend passes it. Rules: docs/spec/log.md.
 * `reopen` closes the storage and opens what it left behind; a backend that keeps nothing leaves it out.
 */
import { MessageAction, RunAction, RunObservation, draftFromJson, toJson, type Event } from '@tendon/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../clock.ts';
import { AppendConflict, type EventLog, type ReadRange, type SourcedDraft } from '../log/event-log.ts';
import type { Storage } from './storage.ts';

export interface StorageUnderTest {
  readonly storage: Storage;
  readonly reopen?: () => Promise<Storage>;
  readonly dispose: () => Promise<void>;
}

/** A clock that is told what to say. */
export function manualClock(start = '2026-11-21T09:00:00.000Z'): Clock & { set(iso: string): void } {
  let now = new Date(start);
  return { now: () => now, sleep: () => Promise.reject(new Error('nobody sleeps in storage')), set: (iso) => (now = new Date(iso)) };
}

export const message = (content: string): SourcedDraft => ({ ...MessageAction.create({ content }), source: 'user' });

export function storageContract(name: string, make: (clock: Clock) => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    const clock = manualClock();
    let parts: StorageUnderTest;
    let storage: Storage;
    let log: EventLog;

    beforeEach(async () => {
      parts = await make(clock);
      storage = parts.storage;
      log = await storage.events.open('c');
    });
    afterEach(() => parts.dispose());

    appending(() => log, clock);
    conflicts(() => log);
    reading(() => log);
    following(() => ({ storage, log }));
    conversations(() => storage);
    records(() => storage);
    closing(() => ({ storage, log }));
    keeping(() => parts);
  });
}

function appending(log: () => EventLog, clock: ReturnType<typeof manualClock>): void {
  it('EL1: ids count from 0 without a gap, over single and several drafts', async () => {
    const first = await log().append([message('a')], { expectedId: 0 });
    const more = await log().append([message('b'), message('c')], { expectedId: 1 });
    expect([...first, ...more].map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(log().nextId).toBe(3);
  });

  it('EL3: an append without drafts changes nothing', async () => {
    expect(await log().append([], { expectedId: 0 })).toEqual([]);
    expect(log().nextId).toBe(0);
  });

  it('EL5: timestamps are UTC with Z and do not go back with the clock', async () => {
    clock.set('2026-11-21T10:00:00.000Z');
    await log().append([message('a')], { expectedId: 0 });
    clock.set('2026-11-21T09:30:00.000Z');
    await log().append([message('b')], { expectedId: 1 });
    clock.set('2026-11-21T10:00:01.000Z');
    await log().append([message('c')], { expectedId: 2 });
    const at = (await log().read()).map(({ timestamp }) => timestamp);
    expect(at).toEqual(['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:01.000Z']);
  });

  it('EL5: a draft that brings meta fields of its own does not get them', async () => {
    const forged = {
      ...draftFromJson({ action: 'message', args: { content: 'x' }, id: 99, timestamp: '1970' }),
      source: 'user',
    } as SourcedDraft;
    const [event] = await log().append([forged], { expectedId: 0 });
    expect(event).toMatchObject({ id: 0, source: 'user' });
    expect(event!.timestamp).toMatch(/^2026-/);
  });

  it('EL6: events are frozen to the ground', async () => {
    const [event] = await log().append([{ ...RunObservation.create('out', { command: 'ls' }), source: 'agent' }], { expectedId: 0 });
    const [read] = await log().read();
    for (const each of [event, read] as { extras: { metadata: object } }[]) {
      for (const part of [each, each.extras, each.extras.metadata]) expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('EL6: what is not JSON is refused and nothing is appended', async () => {
    const deep = JSON.parse('['.repeat(1000) + ']'.repeat(1000)) as unknown;
    for (const wrong of [new Date(), 10n, () => 1, Number.NaN, new Uint8Array(2), deep]) {
      const draft = { unknown: true, raw: { wrong }, source: 'user' } as unknown as SourcedDraft;
      await expect(log().append([message('good'), draft], { expectedId: 0 })).rejects.toThrow(TypeError);
    }
    expect(await log().read()).toEqual([]);
  });

  it('EL7, EL8: unknown kinds keep every key in order, hostile ones too', async () => {
    const text =
      '{"observation":"from_the_future","10":1,"2":2,"__proto__":{"x":1},"constructor":[],"unknown":true,"raw":null,"cause":0,"\\ud800":"\\udfff"}';
    const [event] = await log().append([{ ...draftFromJson(JSON.parse(text)), source: 'agent' }], { expectedId: 0 });
    const [read] = await log().read();
    const { id: _, timestamp: __, source: ___, ...raw } = toJson(read!);
    expect(JSON.stringify(raw)).toBe(JSON.stringify(JSON.parse(text)));
    expect(JSON.stringify(read)).toBe(JSON.stringify(event));
  });

  it('EL7: what the engine sets beside an unknown kind is kept with it', async () => {
    const draft: SourcedDraft = { unknown: true, raw: { observation: 'x' }, cause: 3, source: 'agent' };
    const [event] = await log().append([draft], { expectedId: 0 });
    expect(event).toMatchObject({ cause: 3, raw: { observation: 'x', cause: 3 } });
    expect(await log().read()).toEqual([event]);
  });

  it('EL8: a payload of a megabyte comes back as it was', async () => {
    const content = 'é\u2028"'.repeat(300_000);
    const written = await log().append([{ ...RunObservation.create(content, { command: 'cat' }), source: 'agent' }], { expectedId: 0 });
    expect(JSON.stringify(await log().read())).toBe(JSON.stringify(written));
  });
}

function conflicts(log: () => EventLog): void {
  it('EL2: an append behind the log is refused with both ids, and so is one before it', async () => {
    await log().append([message('a')], { expectedId: 0 });
    for (const expectedId of [0, 2]) {
      const refused = await log()
        .append([message('b')], { expectedId })
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(AppendConflict);
      expect(refused).toMatchObject({ expectedId, nextId: 1 });
    }
    expect(log().nextId).toBe(1);
  });

  it('EL2: of many appends for one place exactly one wins, and the losers find its event', async () => {
    const appends = Array.from({ length: 20 }, (_, index) => log().append([message(String(index))], { expectedId: 0 }));
    // A loser is told only when the winner's event can be read.
    const found = appends.map((append) =>
      append.then(
        () => 'won',
        async () => (await log().read()).length,
      ),
    );
    const outcomes = await Promise.allSettled(appends);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const losses = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as AppendConflict);
    expect(losses.every((loss) => loss instanceof AppendConflict && loss.nextId === 1)).toBe(true);
    expect((await Promise.all(found)).filter((events) => events !== 'won')).toEqual(Array(19).fill(1));
  });

  it('EL1, EL2: writers that try again leave no gap and lose nothing', async () => {
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; n < 10;) {
        try {
          await log().append([message(`${writer}:${n}`)], { expectedId: log().nextId });
          n += 1;
        } catch (error) {
          if (!(error instanceof AppendConflict)) throw error;
        }
      }
    };
    await Promise.all([0, 1, 2, 3].map(write));
    const events = await log().read();
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, id) => id));
    expect(new Set(events.map(contentOf)).size).toBe(40);
  });
}

function reading(log: () => EventLog): void {
  const ids = async (range: ReadRange): Promise<number[]> => (await log().read(range)).map(({ id }) => id);

  it('EL9: ranges, limits and both directions', async () => {
    for (let id = 0; id < 600; id += 100) {
      await log().append(
        Array.from({ length: 100 }, (_, n) => message(String(id + n))),
        { expectedId: id },
      );
    }
    expect(await ids({})).toEqual(Array.from({ length: 600 }, (_, id) => id));
    expect(await ids({ from: 3, to: 6 })).toEqual([3, 4, 5]);
    expect(await ids({ from: 3, to: 6, reverse: true })).toEqual([5, 4, 3]);
    expect(await ids({ limit: 2 })).toEqual([0, 1]);
    expect(await ids({ limit: 2, reverse: true })).toEqual([599, 598]);
    expect(await ids({ reverse: true })).toEqual(Array.from({ length: 600 }, (_, id) => 599 - id));
    expect(await ids({ from: 598, to: 10_000 })).toEqual([598, 599]);
    for (const nothing of [{ from: 600 }, { from: -5, to: 0 }, { from: 7, to: 3 }, { limit: 0 }]) expect(await ids(nothing)).toEqual([]);
  });
}

function following(parts: () => { readonly storage: Storage; readonly log: EventLog }): void {
  it('EL10: stored events first, then live ones, each once and in order', async () => {
    const { log } = parts();
    await log.append([message('0'), message('1'), message('2')], { expectedId: 0 });
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const { id } of log.follow(1, stop)) {
      seen.push(id);
      if (id === 2) await log.append([message('3')], { expectedId: 3 });
      if (id === 3) stop.abort();
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it('EL10: a cursor before the log waits for it', async () => {
    const { log } = parts();
    const stop = new AbortController();
    const first = log.follow(2, stop)[Symbol.asyncIterator]().next();
    await log.append([message('0'), message('1')], { expectedId: 0 });
    await log.append([message('2')], { expectedId: 2 });
    expect((await first).value).toMatchObject({ id: 2 });
    stop.abort();
  });

  it('EL10: followers end quietly with their signal, with the conversation and with the storage', async () => {
    const { storage, log } = parts();
    const other = await storage.events.open('other');
    const stop = new AbortController();
    const never = new AbortController().signal;
    const waiting = [log.follow(0, stop), other.follow(0, { signal: never }), log.follow(0, { signal: never })].map((events) =>
      events[Symbol.asyncIterator]().next(),
    );
    stop.abort();
    await storage.events.delete('other');
    await storage.close();
    for (const end of await Promise.all(waiting)) expect(end.done).toBe(true);
  });

  it('EL10: an aborted signal gives nothing, even with events there', async () => {
    const { log } = parts();
    await log.append([message('0')], { expectedId: 0 });
    expect((await log.follow(0, { signal: AbortSignal.abort() })[Symbol.asyncIterator]().next()).done).toBe(true);
  });
}

function conversations(storage: () => Storage): void {
  it('EL1: logs are separate, and the same id gives the same object', async () => {
    const [a, b] = [await storage().events.open('a'), await storage().events.open('b')];
    await a.append([message('in a')], { expectedId: 0 });
    expect(b.nextId).toBe(0);
    expect(await storage().events.open('a')).toBe(a);
  });

  it('EL13: a deleted log refuses everything, and its id begins anew', async () => {
    const old = await storage().events.open('a');
    await old.append([message('secret')], { expectedId: 0 });
    await storage().events.delete('a');
    await expect(old.read()).rejects.toThrow(/deleted/);
    await expect(old.append([message('x')], { expectedId: 1 })).rejects.toThrow(/deleted/);
    const fresh = await storage().events.open('a');
    expect(fresh.nextId).toBe(0);
    await fresh.append([message('new')], { expectedId: 0 });
    expect((await fresh.read()).map(contentOf)).toEqual(['new']);
    await storage().events.delete('never there');
  });
}

function records(storage: () => Storage): void {
  it('EL21: put, get, replace, delete', async () => {
    const { records: store } = storage();
    await store.put('things', { id: 'a', sort: '1', value: { n: 1 } });
    await store.put('things', { id: 'a', sort: '2', value: { n: 2, nested: [null, 'é'] } });
    expect(await store.get('things', 'a')).toEqual({ n: 2, nested: [null, 'é'] });
    expect(await store.get('other', 'a')).toBeUndefined();
    expect(await store.delete('things', 'a')).toBe(true);
    expect(await store.delete('things', 'a')).toBe(false);
    expect(await store.get('things', 'a')).toBeUndefined();
  });

  it('EL21: listings go down by sort and id, page by page, and nothing is shared with the caller', async () => {
    const { records: store } = storage();
    const value = { shared: false };
    for (const [id, sort] of [
      ['b', '1'],
      ['a', '2'],
      ['c', '1'],
      ['\u{1f9b4}', ''],
    ] as const)
      await store.put('things', { id, sort, value });
    value.shared = true;
    expect(await store.list('things')).toEqual(
      ['a', 'c', 'b', '\u{1f9b4}'].map((id) => expect.objectContaining({ id, value: { shared: false } })),
    );
    const page = await store.list('things', { limit: 2 });
    expect((await store.list('things', { before: page[1]! })).map(({ id }) => id)).toEqual(['b', '\u{1f9b4}']);
    expect(await store.list('empty')).toEqual([]);
  });
}

function closing(parts: () => { readonly storage: Storage; readonly log: EventLog }): void {
  it('EL22: what was accepted before closing is kept, what comes after is refused', async () => {
    const { storage, log } = parts();
    const accepted = log.append([message('a')], { expectedId: 0 });
    await Promise.resolve();
    await Promise.all([storage.close(), storage.close()]);
    await expect(accepted).resolves.toHaveLength(1);
    await expect(log.append([message('b')], { expectedId: 1 })).rejects.toMatchObject({ name: 'StorageError', code: 'closed' });
    await expect(log.read()).rejects.toMatchObject({ code: 'closed' });
    await expect(storage.events.open('c')).rejects.toMatchObject({ code: 'closed' });
    await expect(storage.records.get('things', 'a')).rejects.toMatchObject({ code: 'closed' });
    await expect(storage.records.put('things', { id: 'a', sort: '', value: 1 })).rejects.toMatchObject({ code: 'closed' });
  });
}

function keeping(parts: () => StorageUnderTest): void {
  it('EL15: everything acknowledged is there after closing and opening', async (test) => {
    const { storage, reopen } = parts();
    if (!reopen) return test.skip('this backend keeps nothing');
    const log = await storage.events.open('c');
    const written = await log.append(
      [
        message('a'),
        { ...RunAction.create({ command: 'ls' }), source: 'agent' },
        { ...RunObservation.create('x'.repeat(50_000), { command: 'ls' }), source: 'agent', cause: 1 },
      ],
      { expectedId: 0 },
    );
    await storage.records.put('things', { id: 'a', sort: '1', value: [1] });
    const again = await reopen();
    const kept = await again.events.open('c');
    expect(kept.nextId).toBe(3);
    expect(JSON.stringify(await kept.read())).toBe(JSON.stringify(written));
    expect(await again.records.get('things', 'a')).toEqual([1]);
    expect(again.findings).toEqual([]);
  });
}

function contentOf(event: Event): unknown {
  return (event as unknown as { args: { content: unknown } }).args.content;
}
