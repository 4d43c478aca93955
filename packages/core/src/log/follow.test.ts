import type { Event } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { follow, type Followable, type Lazy, Wakeup } from './follow.ts';

const PAGE = 10;

/** A log of so many events that counts what is taken from it. */
class CountingLog implements Followable {
  readonly changed = new Wakeup();
  nextId: number;
  ended = false;
  pages = 0;
  fetched = 0;

  constructor(events: number) {
    this.nextId = events;
  }

  page(from: number): readonly Lazy<Event>[] {
    this.pages += 1;
    const ids = Array.from({ length: Math.min(PAGE, this.nextId - from) }, (_, index) => from + index);
    return ids.map((id) => () => {
      this.fetched += 1;
      return { id } as Event;
    });
  }

  grow(by: number): void {
    this.nextId += by;
    this.changed.wake();
  }
}

describe('follow', () => {
  it('EL11: nothing is taken before it is asked for, and one page is the most that lies ready', async () => {
    const log = new CountingLog(1000);
    const events = follow(log, 0, new AbortController().signal);
    expect(log.pages).toBe(0);
    for (let id = 0; id < PAGE + 1; id++) expect((await events.next()).value).toMatchObject({ id });
    log.grow(100);
    expect(log).toMatchObject({ pages: 2, fetched: PAGE + 1 });
    await events.return();
  });

  it('EL11: a thousand followers that wait cost a look each when something comes, and nothing before', async () => {
    const log = new CountingLog(0);
    const stop = new AbortController();
    const waiting = Array.from({ length: 1000 }, () => follow(log, 0, stop.signal).next());
    await Promise.resolve();
    expect(log.pages).toBe(0);
    log.grow(1);
    expect((await Promise.all(waiting)).every(({ value }) => (value as Event).id === 0)).toBe(true);
    expect(log.pages).toBe(1000);
    stop.abort();
  });

  it('EL10: what grows between two pages is neither lost nor doubled', async () => {
    const log = new CountingLog(PAGE);
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const { id } of follow(log, 0, stop.signal)) {
      seen.push(id);
      if (id % 3 === 0 && log.nextId < 50) log.grow(2);
      if (id === log.nextId - 1) stop.abort();
    }
    expect(seen).toEqual(Array.from({ length: log.nextId }, (_, id) => id));
  });

  it('EL10: an abort in the middle of a page ends it there', async () => {
    const log = new CountingLog(PAGE);
    const stop = new AbortController();
    const events = follow(log, 0, stop.signal);
    await events.next();
    stop.abort();
    expect((await events.next()).done).toBe(true);
  });

  it('EL10: the end of the log ends those who wait', async () => {
    const log = new CountingLog(0);
    const waiting = follow(log, 0, new AbortController().signal).next();
    log.ended = true;
    log.changed.wake();
    expect((await waiting).done).toBe(true);
  });
});
