import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkerScanner, type Scanned } from './marker-scanner.ts';

const isOurs = (id: string): boolean => id.startsWith('ours');

function scan(pieces: readonly string[]): Scanned[] {
  const scanner = createMarkerScanner(isOurs);
  const all = pieces.flatMap((piece) => scanner.push(piece));
  return merged([...all, { text: scanner.flush() }]);
}

/** Neighbouring texts as one. */
function merged(items: readonly Scanned[]): Scanned[] {
  const out: Scanned[] = [];
  for (const item of items) {
    const last = out.at(-1);
    if ('text' in item && item.text === '') continue;
    if ('text' in item && last && 'text' in last) out.splice(-1, 1, { text: last.text + item.text });
    else out.push(item);
  }
  return out;
}

describe('marker scanner', () => {
  it('RT24: finds our markers and leaves those of others in the output', () => {
    expect(scan(['a\u001b]133;C;ours-1\u0007b\u001b]133;D;theirs\u0007c\u001b]133;D;ours-1\u0007'])).toEqual([
      { text: 'a' },
      { marker: 'begin', id: 'ours-1' },
      { text: 'b\u001b]133;D;theirs\u0007c' },
      { marker: 'end', id: 'ours-1' },
    ]);
  });

  it('RT30: however the output is split, text and markers are the same, and nothing is lost', () => {
    const token = fc.constantFrom(
      '\u001b]133;C;ours-1\u0007',
      '\u001b]133;D;ours-2\u0007',
      '\u001b]133;D;other\u0007',
      '\u001b',
      '\u001b]',
      '\u001b]133;',
      '\u001b[31m',
      'text',
      '漢',
      '\n',
    );
    const cases = fc.array(token, { maxLength: 20 }).chain((tokens) => {
      const whole = tokens.join('');
      return fc.record({ whole: fc.constant(whole), places: fc.array(fc.nat(whole.length), { maxLength: 10 }) });
    });
    fc.assert(
      fc.property(cases, ({ whole, places }) => {
        const at = [0, ...places.toSorted((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end));
        expect(scan(pieces)).toEqual(scan([whole]));
        const back = scan(pieces).map((item) =>
          'text' in item ? item.text : `\u001b]133;${item.marker === 'begin' ? 'C' : 'D'};${item.id}\u0007`,
        );
        expect(back.join('')).toBe(whole);
      }),
    );
  });

  it('RT24: what looks like the start of a marker is held back only so long', () => {
    const scanner = createMarkerScanner(isOurs);
    const start = `\u001b]133;C;${'x'.repeat(200)}`;
    expect(merged(scanner.push(start))).toEqual([{ text: start }]);
  });
});
