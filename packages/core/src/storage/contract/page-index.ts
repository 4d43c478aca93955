import { expect, it } from 'vitest';
import type { StorageUnderTest } from './storage-under-test.ts';
import type { Storage } from '../storage.ts';
import { message } from './message.ts';

const LOG = { conversationId: 'c', version: '1' };

async function withEvents(storage: Storage, count: number): Promise<Storage> {
  const log = await storage.events.open('c');
  await log.append(
    Array.from({ length: count }, (_, id) => message(String(id))),
    { expectedId: 0 },
  );
  return storage;
}

/** A backend may return too many pages, so the tests check which must be there and which must not. */
export function pageIndex(parts: () => StorageUnderTest): void {
  it('EL47: every page that holds a text is found, at any place in it, and the pages of no other log', async () => {
    const { pages } = await withEvents(parts().storage, 40);
    const texts = ['the first äöü needle', '"quoted" 猫猫猫\u{1f9b4} text', undefined, 'needle at the end', 'a long line '.repeat(3000)];
    for (const [n, text] of texts.entries()) expect(await pages.add(LOG, { from: n * 8, to: n * 8 + 8, text })).toBe(true);
    expect(await pages.indexedTo(LOG)).toBe(40);
    const found = async (text: string) => (await pages.find(LOG, text))?.map(({ from, to }) => (expect(to).toBe(from + 8), from / 8));
    expect(await found('needle')).toEqual([0, 2, 3]);
    expect(await found('äöü')).toEqual([0, 2]);
    expect(await found('"quoted" 猫')).toEqual([1, 2]);
    expect(await found('猫\u{1f9b4} t')).toEqual([1, 2]);
    expect(await found('nowhere to be found')).toEqual([2]);
    expect(await found('line a long line a long line a long line a long')).toEqual([2, 4]);
    expect(await found('a" OR "needle')).toEqual([2]);
    expect(await pages.find({ conversationId: 'other', version: '1' }, 'needle')).toEqual([]);
    for (const short of ['ä', 'ne']) expect((await found(short)) ?? [0, 1, 2, 3, 4]).toEqual(expect.arrayContaining([2]));
  });

  it('EL47: pages follow each other, hold events that there are, and have one version', async () => {
    const { pages } = await withEvents(parts().storage, 10);
    expect(await pages.add(LOG, { from: 1, to: 5, text: 'a gap' })).toBe(false);
    expect(await pages.add(LOG, { from: 0, to: 11, text: 'too far' })).toBe(false);
    expect(await pages.add(LOG, { from: 0, to: 5, text: 'needle' })).toBe(true);
    expect(await pages.add(LOG, { from: 0, to: 5, text: 'again' })).toBe(false);
    const newer = { ...LOG, version: '2' };
    expect([await pages.indexedTo(newer), await pages.find(newer, 'needle')]).toEqual([0, []]);
    expect(await pages.add(newer, { from: 0, to: 5, text: 'needle' })).toBe(false);
    await pages.clear('c');
    expect(await pages.add(newer, { from: 0, to: 5, text: 'needle' })).toBe(true);
    expect(await pages.indexedTo(LOG)).toBe(0);
  });

  it('EL47: pages go with their log', async () => {
    const { events, pages } = await withEvents(parts().storage, 10);
    await pages.add(LOG, { from: 0, to: 10, text: 'needle' });
    await events.delete('c');
    await (await events.open('c')).append([message('new')], { expectedId: 0 });
    expect([await pages.indexedTo(LOG), await pages.find(LOG, 'needle')]).toEqual([0, []]);
    expect(await pages.add(LOG, { from: 0, to: 10, text: 'of before' })).toBe(false);
  });

  it('EL47: and survive opening again', async () => {
    const { storage, reopen } = parts();
    if (!reopen) return; // a backend in memory keeps nothing
    await (await withEvents(storage, 10)).pages.add(LOG, { from: 0, to: 8, text: 'needle' });
    const { pages } = await reopen();
    expect(await pages.find(LOG, 'needle')).toEqual([{ from: 0, to: 8 }]);
    expect(await pages.add(LOG, { from: 8, to: 10, text: 'and on' })).toBe(true);
  });
}
