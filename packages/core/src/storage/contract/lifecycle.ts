import { RunAction, RunObservation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import type { EventLog } from '../../log/event-log.ts';
import type { StorageUnderTest } from '../contract.ts';
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
}

export function closing(parts: () => { readonly storage: Storage; readonly log: EventLog }): void {
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

export function keeping(parts: () => StorageUnderTest): void {
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
    const kept = await again.events.open('c');
    expect(kept.nextId).toBe(3);
    expect(JSON.stringify(await kept.read())).toBe(JSON.stringify(written));
    expect(await again.records.get('things', 'a')).toEqual([1]);
    expect(again.findings).toEqual([]);
  });
}
