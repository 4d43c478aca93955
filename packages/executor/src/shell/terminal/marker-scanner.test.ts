import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkerScanner, type ScanItem } from './marker-scanner.ts';

const isOurs = (id: string): boolean => id.startsWith('ours');

type Item = { readonly text: string } | Exclude<ScanItem, { readonly bytes: Buffer }>;

function scan(pieces: readonly Buffer[]): Item[] {
  const scanner = createMarkerScanner(isOurs);
  const all = pieces.flatMap((piece) => scanner.push(piece));
  return merged([...all, { bytes: scanner.flush() }]);
}

/** Neighbouring outputs as one text. */
function merged(items: readonly ScanItem[]): Item[] {
  const out: (ScanItem & { bytes?: Buffer })[] = [];
  for (const item of items) {
    const last = out.at(-1);
    if ('bytes' in item && last?.bytes) out.splice(-1, 1, { bytes: Buffer.concat([last.bytes, item.bytes]) });
    else if (!('bytes' in item) || item.bytes.length > 0) out.push(item);
  }
  return out.map((item) => ('marker' in item ? item : { text: item.bytes.toString('utf8') }));
}

describe('marker scanner', () => {
  it('RT24: finds our markers and leaves those of others in the output', () => {
    expect(scan([Buffer.from('a\u001b]133;C;ours-1\u0007b\u001b]133;D;theirs\u0007c\u001b]133;D;ours-1;3\u0007')])).toEqual([
      { text: 'a' },
      { marker: 'begin', id: 'ours-1' },
      { text: 'b\u001b]133;D;theirs\u0007c' },
      { marker: { exitCode: 3 }, id: 'ours-1' },
    ]);
  });

  it('RT30: however the output is split, text and markers are the same, and nothing is lost', () => {
    const token = fc.constantFrom(
      '\u001b]133;C;ours-1\u0007',
      '\u001b]133;D;ours-2;0\u0007',
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
      const whole = Buffer.from(tokens.join(''));
      return fc.record({ whole: fc.constant(whole), places: fc.array(fc.nat(whole.length), { maxLength: 10 }) });
    });
    fc.assert(
      fc.property(cases, ({ whole, places }) => {
        const at = [0, ...places.toSorted((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        expect(scan(pieces)).toEqual(scan([whole]));
        const back = scan(pieces).map((item) =>
          'text' in item
            ? item.text
            : `\u001b]133;${item.marker === 'begin' ? `C;${item.id}` : `D;${item.id};${item.marker.exitCode}`}\u0007`,
        );
        expect(back.join('')).toBe(whole.toString('utf8'));
      }),
    );
  });

  it('RT24: what looks like the start of a marker is held back only so long', () => {
    const scanner = createMarkerScanner(isOurs);
    const start = `\u001b]133;C;${'x'.repeat(200)}`;
    expect(merged(scanner.push(Buffer.from(start)))).toEqual([{ text: start }]);
  });
});
