import { RunAction, RunObservation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import type { EventLog } from '../../log/event-log.ts';
import type { StorageUnderTest } from './storage-under-test.ts';
import type { Storage } from '../storage.ts';
import { contentOf, message } from './message.ts';

export function conversations(storage: () => Storage): void {
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

  it('EL30: what one opening appends to a log has one epoch, and a log that begins anew another', async () => {
    const old = await storage().events.open('a');
    await old.append([message('0')], { expectedId: 0 });
    await old.append([message('1')], { expectedId: 1 });
    const epoch = old.epochOf(0);
    expect(epoch).toMatch(/^[0-9a-f]{16}$/);
    expect(old.epochOf(1)).toBe(epoch);
    await storage().events.delete('a');
    const fresh = await storage().events.open('a');
    await fresh.append([message('new')], { expectedId: 0 });
    expect(fresh.epochOf(0)).toMatch(/^[0-9a-f]{16}$/);
    expect(fresh.epochOf(0)).not.toBe(epoch);
  });
}

export function closing(parts: () => { readonly storage: Storage; readonly log: EventLog }): void {
  it('EL22: what was accepted before closing is stored, what comes after is refused', async () => {
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

export function keeping(parts: () => StorageUnderTest): void {
  it('EL30: an event keeps its epoch, and each opening has a new one', async () => {
    const { storage, reopen } = parts();
    if (!reopen) return;
    const log = await storage.events.open('c');
    await log.append([message('0'), message('1')], { expectedId: 0 });
    const first = log.epochOf(1);
    const second = await (await reopen()).events.open('c');
    expect([0, 1].map((id) => second.epochOf(id))).toEqual([first, first]);
    await second.append([message('2')], { expectedId: 2 });
    const epochs = [0, 1, 2].map((id) => second.epochOf(id));
    expect(epochs).toEqual([first, first, expect.stringMatching(/^[0-9a-f]{16}$/)]);
    const third = await (await reopen()).events.open('c');
    expect([0, 1, 2].map((id) => third.epochOf(id))).toEqual(epochs);
    expect(new Set(epochs).size).toBe(2);
  });

  it('EL15: everything acknowledged is there after closing and opening', async () => {
    const { storage, reopen } = parts();
    if (!reopen) return; // a backend in memory keeps nothing, and says so by having no way back
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
    const stored = await again.events.open('c');
    expect(stored.nextId).toBe(3);
    expect(JSON.stringify(await stored.read())).toBe(JSON.stringify(written));
    expect(await again.records.get('things', 'a')).toEqual([1]);
    expect(again.findings).toEqual([]);
  });
}
