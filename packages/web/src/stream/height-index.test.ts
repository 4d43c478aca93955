import { array, assert, float, integer, nat, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeightIndex } from './height-index.ts';

const height = integer({ min: 1, max: 500 });

describe('heights of rows', () => {
  it('CL24: tops are the sums of what is above, also after changes', () => {
    assert(
      property(array(height, { minLength: 1, maxLength: 80 }), array(tuple(nat(79), height)), (heights, changes) => {
        const index = new HeightIndex(heights);
        const plain = [...heights];
        for (const [row, value] of changes) {
          if (row >= plain.length) continue;
          index.set(row, value);
          plain[row] = value;
        }
        plain.forEach((_, row) => expect(index.top(row)).toBe(plain.slice(0, row).reduce((sum, one) => sum + one, 0)));
        expect(index.total).toBe(plain.reduce((sum, one) => sum + one, 0));
      }),
    );
  });

  it('CL24: the row at a height covers it', () => {
    const share = float({ min: 0, max: Math.fround(0.999), noNaN: true });
    assert(
      property(array(height, { minLength: 1, maxLength: 80 }), share, (heights, at) => {
        const index = new HeightIndex(heights);
        const y = at * index.total;
        const row = index.rowAt(y);
        expect(index.top(row)).toBeLessThanOrEqual(y);
        expect(index.top(row) + index.height(row)).toBeGreaterThan(y);
      }),
    );
  });

  it('nothing has no height', () => {
    expect(new HeightIndex([]).total).toBe(0);
    expect(new HeightIndex([]).rowAt(10)).toBe(0);
  });
});
