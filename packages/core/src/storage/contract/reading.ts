import { expect, it } from 'vitest';
import type { EventLog, ReadRange } from '../../log/event-log.ts';
import type { Storage } from '../storage.ts';
import { message } from './message.ts';

export function reading(log: () => EventLog): void {
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

export function following(parts: () => { readonly storage: Storage; readonly log: EventLog }): void {
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
