/** What every place of blobs keeps. Rules: docs/spec/log.md. */
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../blobs/blob-store.ts';

export interface BlobsUnderTest {
  readonly store: BlobStore;
  /** Changes what is stored of a blob behind the store's back. */
  readonly damage: (hash: string) => Promise<void>;
}

const content = (text: string): Buffer => Buffer.from(`${text} `.repeat(20_000));

export function blobContract(name: string, make: () => Promise<BlobsUnderTest>): void {
  describe(`blob contract: ${name}`, () => {
    it('SV1130: what was put is read, once for the same content, also by eight at once', async () => {
      const { store } = await make();
      const hashes = await Promise.all(Array.from({ length: 8 }, () => store.put(content('one'))));
      const other = await store.put(content('other'));
      expect(new Set(hashes).size).toBe(1);
      expect(await store.get(hashes[0]!)).toEqual({ ok: true, bytes: content('one') });
      expect(await store.get(other)).toEqual({ ok: true, bytes: content('other') });
      const all: string[] = [];
      for await (const hash of store.hashes()) all.push(hash);
      expect(all.toSorted()).toEqual([hashes[0]!, other].toSorted());
    });

    it('SV1130: what is missing or damaged is reported and never given', async () => {
      const { store, damage } = await make();
      expect(await store.get('ab'.repeat(32))).toEqual({ ok: false, reason: expect.stringContaining('is missing') });
      const hash = await store.put(content('whole'));
      await damage(hash);
      expect(await store.get(hash)).toEqual({ ok: false, reason: expect.stringContaining('has other content') });
    });

    it('SV1131: what is held is not removed; what was removed can be put again', async () => {
      const { store } = await make();
      const hash = await store.put(content('held'));
      await store.put(content('held'));
      store.release([hash]);
      expect(await store.remove(hash)).toBe(false);
      store.release([hash]);
      expect(await store.remove(hash)).toBe(true);
      expect((await store.get(hash)).ok).toBe(false);
      await store.put(content('held'));
      expect((await store.get(hash)).ok).toBe(true);
    });
  });
}
