/**
 * Random operations against a model: a map of lists. Followers start at random cursors, live through reopening by going on at their cursor,
 * and must in the end have seen every event from there on, once and in order.
 */
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { anyCharacter, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { AppendConflict } from '../log/event-log.ts';
import { manualClock } from './contract/manual-clock.ts';
import { contentOf, message } from './contract/message.ts';
import { createMemoryStorage } from './memory/create-memory-storage.ts';
import { temporaryDatabase } from './sqlite/temporary-database.test-support.ts';
import type { Storage } from './storage.ts';

const conversation = fc.constantFrom('a', 'b', 'c');
/** Small, over the limit of a row's string, and over it in bytes only. */
const content = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 1 }).map((one) => one.repeat(17_000)) },
  { weight: 1, arbitrary: fc.constantFrom('é'.repeat(9_000), '\ud800'.repeat(20_000)) },
);
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('append' as const), conversation, contents: fc.array(content, { minLength: 1, maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('conflict' as const), conversation, by: fc.constantFrom(-1, 1, 5) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('read' as const), conversation, from: fc.nat(30), length: fc.nat(30), reverse: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('follow' as const), conversation, from: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), conversation }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

class Follower {
  readonly conversation: string;
  readonly from: number;
  readonly seen: string[] = [];
  readonly #stop = new AbortController();
  #pump: Promise<void> = Promise.resolve();
  #progress: () => void = () => {};

  constructor(followed: string, from: number) {
    this.conversation = followed;
    this.from = from;
  }

  async resume(storage: Storage): Promise<void> {
    await this.#pump;
    const log = await storage.events.open(this.conversation);
    this.#pump = (async () => {
      for await (const event of log.follow(this.from + this.seen.length, { signal: this.#stop.signal })) {
        assert.equal(event.id, this.from + this.seen.length);
        this.seen.push(contentOf(event));
        this.#progress();
      }
    })();
  }

  /** Resolves when so many were seen; then nothing more may come. */
  async finish(count: number): Promise<void> {
    while (this.seen.length < count) await new Promise<void>((resolve) => (this.#progress = resolve));
    this.#stop.abort();
    await this.#pump;
  }
}

class Run {
  readonly model = new Map<string, string[]>();
  readonly reopen: (() => Promise<Storage>) | undefined;
  storage: Storage;
  followers: Follower[] = [];

  constructor(storage: Storage, reopen?: () => Promise<Storage>) {
    this.storage = storage;
    this.reopen = reopen;
  }

  contents(of: string): string[] {
    return this.model.get(of) ?? [];
  }

  async apply(step: Operation): Promise<void> {
    if (step.do === 'reopen') {
      if (!this.reopen) return;
      this.storage = await this.reopen();
      for (const follower of this.followers) await follower.resume(this.storage);
      return;
    }
    const contents = this.contents(step.conversation);
    if (step.do === 'delete') {
      this.followers = this.followers.filter(({ conversation: followed }) => followed !== step.conversation);
      this.model.delete(step.conversation);
      return this.storage.events.delete(step.conversation);
    }
    if (step.do === 'follow') {
      const follower = new Follower(step.conversation, step.from);
      this.followers.push(follower);
      return follower.resume(this.storage);
    }
    const log = await this.storage.events.open(step.conversation);
    assert.equal(log.nextId, contents.length);
    if (step.do === 'read') {
      const { from, length, reverse } = step;
      const expected = contents.slice(from, from + length);
      const read = await log.read({ from, to: from + length, reverse });
      assert.deepEqual(read.map(contentOf), reverse ? expected.toReversed() : expected);
    } else if (step.do === 'conflict') {
      await assert.rejects(log.append([message('x')], { expectedId: contents.length + step.by }), AppendConflict);
    } else {
      await log.append(step.contents.map(message), { expectedId: contents.length });
      this.model.set(step.conversation, [...contents, ...step.contents]);
    }
  }

  async finish(): Promise<void> {
    for (const [of, contents] of this.model) {
      const log = await this.storage.events.open(of);
      assert.deepEqual((await log.read()).map(contentOf), contents);
    }
    for (const follower of this.followers) {
      const expected = this.contents(follower.conversation).slice(follower.from);
      await follower.finish(expected.length);
      assert.deepEqual(follower.seen, expected);
    }
    assert.deepEqual(this.storage.findings, []);
  }
}

async function check(operations: readonly Operation[], run: Run): Promise<void> {
  for (const each of operations) await run.apply(each);
  await run.finish();
}

describe('storage against a model', () => {
  it('memory: EL1, EL2, EL8, EL9, EL10, EL13 hold for random operations', async () => {
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const storage = createMemoryStorage({ clock: manualClock() });
      await check(operations, new Run(storage));
      await storage.close();
    });
    await expect(fc.assert(property, { numRuns: runs(100) })).resolves.toBeUndefined();
  });

  it('sqlite: the same, and EL15 over reopening', async () => {
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const database = temporaryDatabase();
      try {
        let storage = await database.open();
        const reopen = async (): Promise<Storage> => {
          await storage.close();
          return (storage = await database.open());
        };
        await check(operations, new Run(storage, reopen));
      } finally {
        await database.dispose();
      }
    });
    await expect(fc.assert(property, { numRuns: runs(100) })).resolves.toBeUndefined();
  });
});
