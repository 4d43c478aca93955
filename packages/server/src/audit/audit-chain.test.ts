import { createMemoryStorage } from '@tendon/core/storage';
import { Secret } from '@tendon/protocol/masking';
import type { AuditEntry } from '@tendon/protocol';
import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { systemClock as clock } from '../platform/system-clock.ts';
import { AuditChain, storedEntries, storedHead } from './audit-chain.ts';
import { headOf, sealedEntry, sealKey } from './sealed-entry.ts';
import { verifyAudit } from './verify-audit.ts';

const key = sealKey(new Secret('the secret of all servers'));
const content = (n: number) => ({
  time: new Date(n).toISOString(),
  actor: { user: null, name: 'server', key: null, address: null },
  action: n % 2 === 0 ? 'key.created' : 'login',
  target: `t${n}`,
  outcome: 'done' as const,
  detail: { n },
  server: 'here:1',
});

async function chainOf(count: number) {
  const { records } = createMemoryStorage({ clock });
  const chain = new AuditChain(records, { clock, key });
  for (let n = 1; n <= count; n += 1) await chain.append(content(n));
  await chain.close();
  const verify = async () => {
    const head = await storedHead(records);
    return verifyAudit(storedEntries(records), { key, heads: head ? [head] : [] });
  };
  const idOf = (sequence: number) => String(sequence).padStart(16, '0');
  const put = (sequence: number, value: unknown) => records.put('audit', { id: idOf(sequence), sort: idOf(sequence), value });
  const get = async (sequence: number) => (await records.get<AuditEntry>('audit', idOf(sequence)))!;
  return { records, chain, verify, put, get, remove: (sequence: number) => records.delete('audit', idOf(sequence)) };
}

describe('SV1350: each entry has its place, the hash of the one before and a seal', () => {
  it('one that is untouched is whole, over pages and whatever order its keys are stored in', async () => {
    const { verify, put, get } = await chainOf(1_203);
    expect(await verify()).toMatchObject({ ok: true, entries: 1_203 });
    const entry = await get(700);
    await put(700, Object.fromEntries(Object.entries(entry).toReversed()));
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('SV1351: what was changed, removed, added, moved or cut off is found, at the first place', async () => {
    const cases: readonly (readonly [string, number, (chain: Awaited<ReturnType<typeof chainOf>>) => Promise<unknown>])[] = [
      ['was changed', 5, async ({ put, get }) => put(5, { ...(await get(5)), target: 'another' })],
      ['was changed', 5, async ({ put, get }) => put(5, { ...(await get(5)), detail: { n: 5, more: true } })],
      ['is missing', 5, ({ remove }) => remove(5)],
      ['is missing', 1, ({ remove }) => remove(1)],
      ['is not in its place', 6, async ({ put, get }) => put(6, await get(5))],
      [
        'is missing',
        5,
        async ({ put, get }) => {
          const [five, six] = [await get(5), await get(6)];
          await put(5, six);
          await put(6, five);
        },
      ],
      ['was removed with all after it', 8, async ({ remove }) => Promise.all([8, 9, 10].map(remove))],
      ['was removed with all after it', 1, async ({ remove }) => Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(remove))],
      ['is no entry', 4, ({ put }) => put(4, { sequence: 4 })],
      // Who knows how it is made, but not the secret.
      [
        'its seal is wrong',
        10,
        async ({ put, get }) => put(10, sealedEntry({ ...(await get(10)), target: 'x' }, sealKey(new Secret('a guess of his')))),
      ],
      [
        'its seal is wrong',
        11,
        async ({ put, get }) => put(11, sealedEntry({ ...content(11), sequence: 11, previous: (await get(10)).hash }, Buffer.alloc(32))),
      ],
      ['follows another', 5, async ({ put, get }) => put(5, sealedEntry({ ...(await get(5)), previous: (await get(3)).hash }, key))],
    ];
    for (const [problem, at, tamper] of cases) {
      const chain = await chainOf(10);
      await tamper(chain);
      expect(await chain.verify(), problem).toEqual({ ok: false, at, problem: expect.stringContaining(problem) as string });
    }
  });

  it('SV1352: a head from another place shows that the end was cut off, or is another, even where the stored head went with it', async () => {
    const { records, remove, get, put } = await chainOf(10);
    const [early, late] = [headOf(await get(4), key), headOf(await get(10), key)];
    const verify = (heads: readonly (typeof early)[]) => verifyAudit(storedEntries(records), { key, heads });
    expect(await verify([early, late])).toMatchObject({ ok: true });
    await remove(10);
    await records.delete('audit-head', 'head');
    expect(await verify([early])).toMatchObject({ ok: true, entries: 9 });
    expect(await verify([early, late])).toMatchObject({ ok: false, at: 10 });
    // By somebody who has the secret too.
    await put(10, sealedEntry({ ...content(77), sequence: 10, previous: (await get(9)).hash }, key));
    expect(await verify([late])).toMatchObject({ ok: false, at: 10, problem: 'is another entry than it was before' });
    expect(await verify([{ ...early, seal: late.seal }])).toMatchObject({ ok: false, at: 4 });
  });

  it('SV1353: servers that write at once make one chain without a gap, and each entry is in it once', async () => {
    const property = fc.asyncProperty(fc.array(fc.nat(2), { minLength: 1, maxLength: 40 }), async (writers) => {
      const { records } = createMemoryStorage({ clock });
      const chains = [0, 1, 2].map(() => new AuditChain(records, { clock, key }));
      await Promise.all(writers.map((writer, n) => chains[writer]!.append(content(n))));
      await Promise.all(chains.map((chain) => chain.close()));
      expect(await verifyAudit(storedEntries(records), { key })).toMatchObject({ ok: true, entries: writers.length });
      const entries = (await records.list<AuditEntry>('audit')).map(({ value }) => value.target);
      expect(entries.toSorted()).toEqual(writers.map((_, n) => `t${n}`).toSorted());
    });
    await fc.assert(property, { numRuns: runs(50) });
  });
});

it('SV1354: lists are newest first, by action, actor, target, outcome and time, page by page', async () => {
  const { chain } = await chainOf(1_100);
  const all: AuditEntry[] = [];
  for (let before: number | undefined; ;) {
    const { entries, next } = await chain.list({ limit: 300, before });
    all.push(...entries);
    if (next === null) break;
    before = next;
  }
  expect(all.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1_100 }, (_, n) => 1_100 - n));
  const found = async (filter: object) => (await chain.list({ limit: 1000, ...filter })).entries.map(({ sequence }) => sequence);
  expect(await found({ action: 'login', since: new Date(1_096).toISOString() })).toEqual([1_099, 1_097]);
  expect(await found({ action: 'key', until: new Date(5).toISOString() })).toEqual([4, 2]);
  expect(await found({ target: 't7', actor: 'server', outcome: 'done' })).toEqual([7]);
  expect(await found({ action: 'ke' })).toEqual([]);
  expect(await found({ outcome: 'failed' })).toEqual([]);
  expect((await chain.list({ limit: 2, target: 't7' })).next).toBeNull();
});
