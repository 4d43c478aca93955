import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNewestBytes } from './bounded-text.ts';

it('RT29: of any number of bytes the newest stay, and the others are reported in order', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 16 }), (all, size) => {
      const gone: number[] = [];
      const newest = createNewestBytes(size, (bytes) => gone.push(...bytes));
      for (const piece of all) newest.push(Buffer.from(piece));
      const left = [...newest.take()];
      const whole = all.flatMap((piece) => [...piece]);
      expect([...gone, ...left]).toEqual(whole);
      expect(left.length).toBeGreaterThanOrEqual(Math.min(whole.length, size));
      expect(left.length).toBeLessThanOrEqual(2 * size);
      expect(newest.take()).toHaveLength(0);
    }),
  );
});
