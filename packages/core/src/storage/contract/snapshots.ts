import { expect, it } from 'vitest';
import type { EventLog } from '../../log/event-log.ts';
import type { StorageUnderTest } from './storage-under-test.ts';
import { message } from './message.ts';

export function snapshots(parts: () => StorageUnderTest & { readonly log: EventLog }): void {
  const textOf = async (log: EventLog): Promise<string | undefined> => {
    const stored = await log.snapshot();
    return stored && `${stored.nextId} ${stored.text}`;
  };

  it('EL50: the last stored snapshot is returned, to its own log only', async () => {
    const { storage, log } = parts();
    expect(await textOf(log)).toBeUndefined();
    await log.append([message('a'), message('b')], { expectedId: 0 });
    await log.storeSnapshot({ nextId: 1, text: 'one' });
    await log.storeSnapshot({ nextId: 2, text: 'two' });
    await log.append([message('c')], { expectedId: 2 });
    expect(await textOf(log)).toBe('2 two');
    expect(await textOf(await storage.events.open('other'))).toBeUndefined();
  });

  it('EL50: it goes with its log, and a log of the same name begins without', async () => {
    const { storage, log } = parts();
    await log.append([message('a')], { expectedId: 0 });
    await log.storeSnapshot({ nextId: 1, text: 'one' });
    await storage.events.delete('c');
    await expect(log.storeSnapshot({ nextId: 1, text: 'late' })).rejects.toMatchObject({ code: 'closed' });
    const fresh = await storage.events.open('c');
    expect(await textOf(fresh)).toBeUndefined();
    await fresh.append([message('a')], { expectedId: 0 });
    expect(await textOf(fresh)).toBeUndefined();
  });

  it('EL50: it survives closing and opening', async () => {
    const { log, reopen } = parts();
    if (!reopen) return;
    await log.append([message('a')], { expectedId: 0 });
    await log.storeSnapshot({ nextId: 1, text: 'one' });
    expect(await textOf(await (await reopen()).events.open('c'))).toBe('1 one');
  });
}
