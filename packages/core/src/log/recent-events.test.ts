import type { Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentEvents } from './read-pages.ts';

describe('recent events', () => {
  it('EL11: the window is bounded in events and characters, ends at the last event and has no gaps', () => {
    const sizes = fc.array(fc.oneof(fc.nat(3_000), fc.constant(100_000), fc.constant(1_000_000)), { maxLength: 300 });
    const property = fc.property(sizes, (all) => {
      const recent = new RecentEvents();
      for (const [id, size] of all.entries()) {
        recent.push({ id } as Event, size);
        const first = Math.min(recent.firstId, id + 1);
        const ids = first > id ? [] : recent.slice(first, id + 1).map((event) => event.id);
        expect(ids).toEqual(Array.from({ length: id + 1 - first }, (_, index) => first + index));
        expect(ids.length).toBeLessThanOrEqual(128);
        expect(ids.reduce((total, each) => total + all[each]!, 0)).toBeLessThanOrEqual(256 * 1024);
      }
    });
    fc.assert(property, { numRuns: 50 });
  });
});
