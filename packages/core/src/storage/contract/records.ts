import fc from 'fast-check';
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

  it('EN1072: an update sees the value as it is, of several at once none is lost, and it may leave the record', async () => {
    const { records: store } = storage();
    const add = (n: number) =>
      store.update<readonly number[]>('things', 'list', (now = []) => ({ sort: String(now.length), value: [...now, n] }));
    await Promise.all([1, 2, 3, 4, 5].map(add));
    expect((await store.get<number[]>('things', 'list'))!.toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect(await store.list('things')).toMatchObject([{ id: 'list', sort: '4' }]);
    expect(await store.update('things', 'none', (now) => (expect(now).toBeUndefined(), undefined))).toBeUndefined();
    expect(await store.get('things', 'none')).toBeUndefined();
  });

  it('EN1074: a record that is renamed while others change it loses no change, and of several new names it has one', async () => {
    const { records: store } = storage();
    await store.put('things', { id: 'a', sort: '1', value: [] });
    const add = (n: number) =>
      store.update<readonly number[]>('things', 'a', (now) => now && { sort: '2', value: [...now, n] }).then((then) => then?.includes(n));
    const rename = (to: string) => store.rename<readonly number[]>('things', { from: 'a', to }, (value) => ({ sort: '3', value }));
    const [added, renamed] = await Promise.all([Promise.all([1, 2, 3, 4].map(add)), Promise.all(['b', 'c', 'b'].map(rename))]);
    const [left, ...others] = await store.list<readonly number[]>('things');
    expect(others).toEqual([]);
    expect(left!.value.toSorted()).toEqual([1, 2, 3, 4].filter((_n, at) => added[at]));
    expect(renamed.filter((one) => one === 'renamed')).toHaveLength(1);
    await store.put('things', { id: 'd', sort: '1', value: [9] });
    const { id } = left!;
    expect(await store.rename('things', { from: 'd', to: id }, (value) => ({ sort: '', value }))).toBe('taken');
    expect(await store.rename('things', { from: 'none', to: 'e' }, (value) => ({ sort: '', value }))).toBe('missing');
    expect((await store.list('things')).map((one) => one.id).toSorted()).toEqual([id, 'd'].toSorted());
    // Of two that get the same name at once, one does.
    await store.put('things', { id: 'f', sort: '1', value: [] });
    const same = (from: string) => store.rename('things', { from, to: 'g' }, (value) => ({ sort: '', value }));
    expect((await Promise.all(['d', 'f'].map(same))).toSorted()).toEqual(['renamed', 'taken']);
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

  it('EL45: records are found by words of their titles, of any length and letter case, page by page, also after changes', async () => {
    const { records: store } = storage();
    const word = fc.string({ unit: fc.constantFrom('a', 'B', 'ä', 'Ä', 'σ', 'Σ', 'İ', '"', '*', ' ', '猫', '\u{1f9b4}'), maxLength: 5 });
    const titles = fc.sample(fc.array(word, { minLength: 1, maxLength: 4 }), { numRuns: 120, seed: 45 }).map((words) => words.join(' '));
    for (const [n, title] of titles.entries()) await store.put('conversations', record(n, title));
    for (const n of [3, 50]) titles[n] = `renamed Bäb ${n}`;
    for (const n of [3, 50]) await store.put('conversations', record(n, titles[n]!));
    for (const n of [4, 51]) await store.delete('conversations', record(n, '').id);
    await store.put('conversations', { id: 'untitled', sort: '0', value: { title: 7 } });
    const there = titles.map((title, n) => record(n, title)).filter((_, n) => n !== 4 && n !== 51);
    await store.list('conversations', { titled: 'the first search' });

    const queries = [...fc.sample(word, { numRuns: 150, seed: 46 }), 'ENAMED b', 'äB 5', '" OR "', 'baB', '  '].filter(
      (query) => query !== '',
    );
    for (const query of queries) {
      const fits = there.filter(({ value }) => value.title.toLowerCase().includes(query.toLowerCase())).toReversed();
      expect([query, await store.list('conversations', { titled: query })]).toEqual([query, fits]);
      const page = await store.list('conversations', { titled: query, limit: 2 });
      expect(page).toEqual(fits.slice(0, 2));
      const before = page[1] ?? { sort: '', id: '' };
      expect(await store.list('conversations', { titled: query, before })).toEqual(fits.slice(2));
    }
  });
}

function record(n: number, title: string) {
  const sort = String(n).padStart(4, '0');
  return { id: `c${sort}`, sort, value: { title } };
}
