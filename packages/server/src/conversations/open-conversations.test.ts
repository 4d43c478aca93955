import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { MessageAction } from '@tendon/protocol';
import { heapBytes } from '../collect-garbage.test-support.ts';
import { conversationsWith, made, noSandbox, slowStore } from './conversations.test-support.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

describe('SV20: conversations in memory', () => {
  it('those who come at once share one opening', async () => {
    const { conversations, opened } = conversationsWith(60_000);
    const id = await made(conversations);
    const held = await Promise.all(Array.from({ length: 20 }, () => conversations.enter(id)));
    expect(opened).toEqual([id]);
    expect(new Set(held.map((entered) => entered?.open)).size).toBe(1);
    expect(conversations.connections(id)).toBe(20);
    await conversations.close();
  });

  it('an idle one is closed with its mark, and opened from its log by the next who comes', async () => {
    const { conversations, storage, opened } = conversationsWith(1);
    const id = await made(conversations);
    expect(await storage.records.get('active', id)).toBeDefined();
    await conversations.submit(id, MessageAction.create({ content: 'hi' }));
    await vi.waitUntil(() => conversations.openCount === 0, WAIT);
    expect(await storage.records.get('active', id)).toBeUndefined();
    expect(await conversations.get(id)).toMatchObject({ summary: { agent_state: 'awaiting_user_input' }, title: 'hi' });
    const before = (await conversations.log(id))!.nextId;
    const result = await conversations.submit(id, MessageAction.create({ content: 'again' }));
    expect(result).toMatchObject({ ok: true, event: { id: before } });
    expect(opened).toEqual([id, id]);
    await conversations.close();
  });

  it('opening and closing all the time loses no message', async () => {
    const { conversations, opened } = conversationsWith(0);
    const id = await made(conversations);
    const contents = Array.from({ length: 30 }, (_, index) => `message ${index}`);
    for (const content of contents) {
      expect(await conversations.submit(id, MessageAction.create({ content }))).toMatchObject({ ok: true });
      if (content.endsWith('5')) await vi.waitUntil(() => conversations.openCount === 0, WAIT);
    }
    const contentsInLog = (await (await conversations.log(id))!.read()).flatMap((event) =>
      'action' in event && event.action === 'message' && event.source === 'user' ? [event.args.content] : [],
    );
    expect(contentsInLog).toEqual(contents);
    expect(opened.length).toBeGreaterThan(2);
    await conversations.close();
  });

  it('SV191: a client that comes while it is being closed enters it, at whatever moment the two meet', async () => {
    const { conversations } = conversationsWith(60_000);
    const id = await made(conversations);
    for (let ticks = 0; ticks < 40; ticks++) {
      (await conversations.enter(id))!.release();
      const stopping = conversations.stop(id);
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      const entered = await conversations.enter(id);
      expect(entered, `${ticks} ticks after the stop`).toBeDefined();
      entered!.release();
      await stopping;
    }
    await conversations.close();
  });

  it('SV191: a server that is shutting down does not report a conversation as missing', async () => {
    const { conversations } = conversationsWith(60_000);
    const id = await made(conversations);
    await conversations.close();
    await expect(conversations.enter(id)).rejects.toThrow('the server is leaving');
  });

  it('SV196: those that go idle together share the commits of their closing', async () => {
    const { disk, storage, home } = await slowStore();
    const { conversations } = conversationsWith(1, { storage, home });
    const ids = await Promise.all(Array.from({ length: 200 }, () => made(conversations)));
    const held = await Promise.all(ids.map((id) => conversations.enter(id)));
    const before = disk.commits;
    for (const entered of held) entered!.release();
    await expect.poll(async () => (await storage.records.list('active')).length).toBe(0);
    expect(conversations.openCount).toBe(0);
    // One after the other they are two for each.
    expect(disk.commits - before).toBeLessThan(ids.length / 4);
    await conversations.close();
  });

  it('a held one is not closed, a deleted one sends its holders away', async () => {
    const { conversations } = conversationsWith(1);
    const id = await made(conversations);
    const held = await conversations.enter(id);
    const ended = new Promise((resolve) => held!.open.ended.addEventListener('abort', resolve));
    expect(await conversations.delete(id)).toBe(true);
    await ended;
    expect(held!.open.ended.reason).toMatchObject({ code: 'CONVERSATION_DELETED' });
    expect(await conversations.enter(id)).toBeUndefined();
    expect(await conversations.submit(id, MessageAction.create({ content: 'hi' }))).toMatchObject({ ok: false });
    await conversations.close();
  });

  it('SV40: what was left of a deleted one is removed at the next start', async () => {
    const crashing = { ...noSandbox, stop: () => Promise.reject(new Error('a crash')) };
    const { conversations, storage, home } = conversationsWith(60_000, { runtimes: crashing });
    const [deleted, other] = [await made(conversations), await made(conversations)];
    for (const id of [deleted, other]) await conversations.submit(id, MessageAction.create({ content: 'hi' }));
    await expect(conversations.delete(deleted)).rejects.toThrow('a crash');
    await conversations.close();

    const next = conversationsWith(60_000, { storage, home });
    await next.conversations.wakeActive();
    expect(readdirSync(join(home, 'workspaces'))).toEqual([other]);
    expect((await storage.events.open(deleted)).nextId).toBe(0);
    expect((await storage.records.list('active')).map(({ id }) => id)).toEqual([other]);
    await next.conversations.close();
  });

  it('SV40: a server that ends while it wakes what was at work forgets nothing', async () => {
    const { conversations, storage, home } = conversationsWith(60_000);
    const id = await made(conversations);
    await conversations.close();
    await conversations.wakeActive();
    expect(await conversations.get(id)).toBeDefined();
    expect((await storage.records.list('active')).map((record) => record.id)).toEqual([id]);
    expect(readdirSync(join(home, 'workspaces'))).toEqual([id]);
  });
});

it('SV121: a conversation that was closed gives its memory back', async () => {
  const { conversations } = conversationsWith(10);
  const left = async (): Promise<WeakRef<object>> => {
    const held = await conversations.enter(await made(conversations));
    held!.open.watch(() => undefined)();
    held!.release();
    return new WeakRef(held!.open);
  };
  const closed = await Promise.all(Array.from({ length: 20 }, left));
  await expect.poll(() => conversations.openCount).toBe(0);
  const retained = (): number => {
    heapBytes();
    return closed.filter((open) => open.deref()).length;
  };
  await expect.poll(retained).toBe(0);
});
