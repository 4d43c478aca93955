import { fromJson } from '@tendon/protocol';
import { INITIAL_STATE } from '@tendon/protocol/reduce';
import { array, assert, asyncProperty, integer, nat, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../rest/request.ts';
import type { ConversationSnapshot } from './connect.ts';
import { EventWindow, type Gap } from './event-window.ts';
import { ConnectionRefused, eventsOf } from './events-of.ts';
import { SnapshotStore } from './snapshot-store.ts';

const eventOf = (id: number) => fromJson({ id, timestamp: '', source: 'agent', action: 'think', args: { thought: String(id) } });

/** What a connection shows, fed by hand. */
class FedSource {
  readonly window = new EventWindow();
  readonly closed = new AbortController();
  connection: ConversationSnapshot['connection'] = { state: 'connected', since: 0 };
  readonly #store = new SnapshotStore(() => this.#snapshot(), 0);
  readonly loaded: Gap[] = [];

  getSnapshot = () => this.#store.getSnapshot();
  when = (accepts: (snapshot: ConversationSnapshot) => boolean, signal?: AbortSignal) =>
    this.#store.when(accepts, signal ? AbortSignal.any([signal, this.closed.signal]) : this.closed.signal);
  load = (gap: Gap) => {
    this.loaded.push(gap);
    this.window.load(
      gap,
      Array.from({ length: gap.to - gap.from }, (_, index) => eventOf(gap.from + index)),
    );
    this.publish();
    return Promise.resolve();
  };
  publish = () => this.#store.publish();
  events = (options: { after?: number; signal?: AbortSignal } = {}) =>
    eventsOf(this, { after: -1, closed: this.closed.signal, ...options });

  #snapshot(): ConversationSnapshot {
    const { gaps, cursor } = this.window;
    return {
      events: this.window.snapshot(),
      gaps,
      cursor,
      connection: this.connection,
      state: INITIAL_STATE,
    } as unknown as ConversationSnapshot;
  }
}

describe('events of a connection, one by one', () => {
  it('CK962: whatever is replayed, left out, doubled and forgotten, each event comes once and in order', async () => {
    const replay = record({ length: integer({ min: 1, max: 30 }), leftOut: nat(20), broken: nat(30), forget: nat(30) });
    await assert(
      asyncProperty(array(replay, { minLength: 1, maxLength: 6 }), async (replays) => {
        const source = new FedSource();
        const seen: number[] = [];
        let total = 0;
        const reading = (async () => {
          for await (const { id } of source.events()) seen.push(id);
        })();
        for (const { length, leftOut, broken, forget } of replays) {
          const from = source.window.cursor + 1;
          total += length;
          const ids = Array.from({ length: total - from }, (_, index) => from + index);
          source.window.beginReplay();
          // What broke had brought the later events first.
          for (const id of ids.toReversed().slice(0, broken)) source.window.add(eventOf(id));
          source.publish();
          source.window.beginReplay();
          const to = Math.min(from + leftOut, total);
          source.window.leaveOut({ from, to }, { ...INITIAL_STATE, nextId: total });
          for (const id of [...ids, ...ids].filter((one) => one >= to)) source.window.add(eventOf(id));
          source.window.endReplay(total);
          source.publish();
          source.window.forget(forget);
          source.publish();
        }
        while (seen.length < total) await new Promise((resolve) => setImmediate(resolve));
        source.closed.abort();
        await reading;
        expect(seen).toEqual(Array.from({ length: total }, (_, id) => id));
        expect(source.loaded.every(({ from, to }) => to - from <= 100)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('CK962: a signal breaks it off with its reason, a refusal with what refused, and `after` begins later', async () => {
    const source = new FedSource();
    for (const id of [0, 1, 2]) source.window.add(eventOf(id));
    source.window.endReplay(3);
    source.publish();
    const leave = new AbortController();
    const events = source.events({ after: 1, signal: leave.signal });
    expect((await events.next()).value?.id).toBe(2);
    const waiting = events.next();
    leave.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    const others = source.events({ after: 2 });
    const refused = others.next();
    source.connection = { state: 'refused', since: 0, cause: 'key', message: 'no' };
    source.publish();
    await expect(refused).rejects.toSatisfy(
      (error) => error instanceof ConnectionRefused && error.reason === 'key' && error.message === 'no',
    );
  });

  it('CK962: a server that is away while an older part is loaded is asked again, and a refusal is thrown', async () => {
    const source = new FedSource();
    const { load } = source;
    const gapped = () => {
      source.window.leaveOut({ from: 0, to: 3 }, { ...INITIAL_STATE, nextId: 3 });
      source.window.endReplay(3);
      source.publish();
    };
    gapped();
    const failures = [new ApiError(0, 'Could not reach it'), new ApiError(503, 'It starts')];
    source.load = (gap) => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : load(gap);
    };
    const seen: number[] = [];
    for await (const { id } of source.events()) {
      seen.push(id);
      if (id === 2) break;
    }
    expect(seen).toEqual([0, 1, 2]);
    gapped();
    source.load = () => Promise.reject(new ApiError(401, 'no such key'));
    await expect(source.events().next()).rejects.toThrow('no such key');
  });

  it('CK962: `close` and a signal end it also while an older part is loaded', async () => {
    const source = new FedSource();
    source.window.leaveOut({ from: 0, to: 3 }, { ...INITIAL_STATE, nextId: 3 });
    source.window.endReplay(3);
    source.publish();
    source.load = () => new Promise(() => undefined);
    const leave = new AbortController();
    const [left, closed] = [source.events({ signal: leave.signal }).next(), source.events().next()];
    leave.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    source.closed.abort();
    expect(await closed).toEqual({ done: true, value: undefined });
  });
});
