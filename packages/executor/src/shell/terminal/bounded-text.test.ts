import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNewestBytes } from './bounded-text.ts';

it('RT29: of any number of bytes the newest are kept, and the others are told in order', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 16 }), (all, kept) => {
      const gone: number[] = [];
      const newest = createNewestBytes(kept, (bytes) => gone.push(...bytes));
      for (const piece of all) newest.push(Buffer.from(piece));
      const left = [...newest.take()];
      const whole = all.flatMap((piece) => [...piece]);
      expect([...gone, ...left]).toEqual(whole);
      expect(left.length).toBeGreaterThanOrEqual(Math.min(whole.length, kept));
      expect(left.length).toBeLessThanOrEqual(2 * kept);
      expect(newest.take()).toHaveLength(0);
    }),
  );
});
