import { expect, it } from 'vitest';
import type { Storage } from '../storage.ts';

export function records(storage: () => Storage): void {
  it('EL21: put, get, replace, delete', async () => {
    const { records: store } = storage();
    await store.put('things', { id: 'a', sort: '1', value: { n: 1 } });
    await store.put('things', { id: 'a', sort: '2', value: { n: 2, nested: [null, 'é'] } });
    expect(await store.get('things', 'a')).toEqual({ n: 2, nested: [null, 'é'] });
    expect(await store.get('other', 'a')).toBeUndefined();
    expect(await store.delete('things', 'a')).toBe(true);
    expect(await store.delete('things', 'a')).toBe(false);
    expect(await store.get('things', 'a')).toBeUndefined();
  });

  it('EL21: listings go down by sort and id, page by page, and nothing is shared with the caller', async () => {
    const { records: store } = storage();
    const value = { shared: false };
    for (const [id, sort] of [
      ['b', '1'],
      ['a', '2'],
      ['c', '1'],
      ['\u{1f9b4}', ''],
    ] as const)
      await store.put('things', { id, sort, value });
    value.shared = true;
    expect(await store.list('things')).toEqual(
      ['a', 'c', 'b', '\u{1f9b4}'].map((id) => expect.objectContaining({ id, value: { shared: false } })),
    );
    const page = await store.list('things', { limit: 2 });
    expect((await store.list('things', { before: page[1]! })).map(({ id }) => id)).toEqual(['b', '\u{1f9b4}']);
    expect(await store.list('empty')).toEqual([]);
  });
}
