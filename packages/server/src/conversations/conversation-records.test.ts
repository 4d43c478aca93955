/** What changing, listing and deleting records costs where there are many conversations, on a disk that is slow. */
import type { Clock, RecordStore, Storage } from '@tendon/core';
import { INITIAL_STATE, type LlmMetrics, MessageAction } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { systemClock } from '../platform/system-clock.ts';
import { ConversationRecords, type StoredConversation, summaryOf } from './conversation-records.ts';
import { conversationsWith, made, slowStore } from './conversations.test-support.ts';

function record(id: string, extra: Partial<StoredConversation> = {}): StoredConversation {
  const at = '2026-11-22T08:00:00.000Z';
  const none = { selected_repository: null, selected_branch: null, git_provider: null };
  return { id, title: id, created_at: at, updated_at: at, workspace: '/', agent: '', model: '', trigger: '', ...none, ...extra };
}

async function fill(records: ConversationRecords, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => records.add(record(id))));
}

/** A clock whose sleepers wake on demand. */
function heldClock(): { readonly clock: Clock; readonly wake: () => void; readonly sleeperCount: () => number } {
  const sleepers = new Set<() => void>();
  const clock: Clock = {
    now: () => new Date('2026-11-22T09:00:00.000Z'),
    sleep: (_ms, { signal }) =>
      new Promise((resolve, reject) => {
        sleepers.add(resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  };
  return { clock, sleeperCount: () => sleepers.size, wake: () => sleepers.forEach((resolve) => sleepers.delete(resolve) && resolve()) };
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `c${index}`);

describe('SV199: records do not wait for each other', () => {
  it('200 that change at once are stored with three group commits', async () => {
    const { disk, storage } = await slowStore();
    const records = new ConversationRecords(storage.records, systemClock);
    const ids = idsOf(200);
    await fill(records, ids);
    const before = disk.commits;
    await Promise.all(ids.map((id) => records.change(id, () => ({ model: 'another' }))));
    expect(disk.commits - before).toBeLessThanOrEqual(3);
    expect((await records.list({ limit: 200 })).every(({ model }) => model === 'another')).toBe(true);
  });

  itInFull('200 clients that send at once are acknowledged within three group commits', async () => {
    const { disk, storage } = await slowStore();
    const { conversations } = conversationsWith(60_000, { storage });
    const ids = await Promise.all(Array.from({ length: 200 }, () => made(conversations)));
    const say = (id: string) => conversations.submit(id, MessageAction.create({ content: 'go on' }));
    const rests = () => ids.every((id) => conversations.state(id)?.agentState === 'awaiting_user_input');
    await Promise.all(ids.map(say)); // the first one names it
    await expect.poll(rests).toBe(true);
    const before = disk.commits;
    const commits = await Promise.all(ids.map(async (id) => ((await say(id)).ok ? disk.commits - before : Infinity)));
    expect(Math.max(...commits)).toBeLessThanOrEqual(3);
    await conversations.close();
  });

  it('changes of one record each build on the one before', async () => {
    const { storage } = await slowStore();
    const records = new ConversationRecords(storage.records, systemClock);
    await records.add(record('c'));
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => records.change('c', ({ pr_number = [] }) => ({ pr_number: [...pr_number, n] }))),
    );
    expect((await records.get('c'))?.pr_number).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });
});

describe('SV200: when a conversation was last used is written behind', () => {
  const stored = async ({ records }: Storage, id: string) => (await records.get<StoredConversation>('conversations', id))?.updated_at;
  const USED = '2026-11-22T09:00:00.000Z';

  it('readers see it at once, and however often it was used it is one write', async () => {
    const { disk, storage } = await slowStore();
    const { clock, wake, sleeperCount } = heldClock();
    const records = new ConversationRecords(storage.records, clock);
    await fill(records, idsOf(3));
    const before = disk.commits;
    for (let times = 0; times < 50; times += 1) for (const id of ['c0', 'c1']) records.touch(id);
    expect((await records.get('c0'))?.updated_at).toBe(USED);
    expect((await records.list({ limit: 9 })).map(({ updated_at }) => updated_at === USED)).toEqual([false, true, true]);
    expect([disk.commits - before, sleeperCount()]).toEqual([0, 1]);
    wake();
    await expect.poll(() => stored(storage, 'c1')).toBe(USED);
    expect(await stored(storage, 'c0')).toBe(USED);
    expect(disk.commits - before).toBeLessThanOrEqual(2);
  });

  it('closing writes it, and so does any other change of the record', async () => {
    const { storage } = await slowStore();
    const records = new ConversationRecords(storage.records, heldClock().clock);
    await fill(records, idsOf(2));
    for (const id of ['c0', 'c1']) records.touch(id);
    await records.change('c0', () => ({ title: 'named' }));
    expect(await stored(storage, 'c0')).toBe(USED);
    expect(await stored(storage, 'c1')).not.toBe(USED);
    await records.close();
    expect(await stored(storage, 'c1')).toBe(USED);
  });

  it('does not bring back a deleted one', async () => {
    const { storage } = await slowStore();
    const { clock, wake } = heldClock();
    const records = new ConversationRecords(storage.records, clock);
    await fill(records, ['c', 'other']);
    records.touch('c');
    records.touch('other');
    const removed = records.remove(record('c'));
    records.touch('c');
    wake();
    await removed;
    await expect.poll(() => stored(storage, 'other')).toBe(USED);
    await records.close();
    expect(await storage.records.get('conversations', 'c')).toBeUndefined();
  });
});

it('SV202: those at work are listed with the last used first, and marks without a record last', async () => {
  const { storage } = await slowStore();
  const records = new ConversationRecords(storage.records, systemClock);
  await storage.records.put('active', { id: 'cut-off', sort: '', value: {} });
  const days = [3, 1, 4, 2];
  await Promise.all(days.map((day) => records.add(record(`day${day}`, { updated_at: `2026-11-0${day}T08:00:00.000Z` }))));
  expect(await records.marked()).toEqual(['day4', 'day3', 'day2', 'day1', 'cut-off']);
});

describe('SV201: deleting reads nothing of other conversations', () => {
  it('finds only what it delegated itself', async () => {
    const { storage } = await slowStore();
    const read = { records: 0 };
    const records = new ConversationRecords(counting(storage.records, read), systemClock);
    const parent = record('parent');
    await records.add(parent);
    await fill(records, idsOf(300));
    const children = ['child0', 'child1'].map((id) => record(id, { delegated_by: { conversation_id: 'parent', action_id: 4 } }));
    for (const child of children) await records.add(child);
    read.records = 0;
    expect([...(await records.delegatedBy('parent'))].toSorted()).toEqual(['child0', 'child1']);
    expect(read.records).toBe(2);
    expect(await records.delegatedBy('c7')).toEqual([]);
    await records.remove(children[0]!);
    expect(await records.delegatedBy('parent')).toEqual(['child1']);
  });
});

/** Counts the records that a listing gives. */
function counting(store: RecordStore, read: { records: number }): RecordStore {
  return {
    get: (collection, id) => store.get(collection, id),
    put: (collection, value) => store.put(collection, value),
    delete: (collection, id) => store.delete(collection, id),
    update: (...given) => store.update(...given),
    rename: (...given) => store.rename(...given),
    watch: (...given) => store.watch(...given),
    async list<T>(...about: Parameters<RecordStore['list']>) {
      const found = await store.list<T>(...about);
      read.records += found.length;
      return found;
    },
  };
}

it('SV1020: what a list says was spent is what the answers of the log cost, those without a price apart', () => {
  const usage = { model: 'my/model', prompt_tokens: 9, completion_tokens: 1, context_window: 0, per_turn_token: 10 };
  const metrics = { accumulated_cost: 0.5, unpriced_tokens: 10, accumulated_token_usage: usage } as unknown as LlmMetrics;
  expect(summaryOf({ ...INITIAL_STATE, metrics })).toMatchObject({ accumulated_cost: 0.5, unpriced_tokens: 10, answered_by: 'my/model' });
  expect(summaryOf(INITIAL_STATE)).toEqual({ agent_state: INITIAL_STATE.agentState, reason: '', accumulated_cost: 0 });
});
