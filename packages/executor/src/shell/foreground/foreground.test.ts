import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEchoFilter } from '../foreground/foreground.ts';

function stripped(typed: string, pieces: readonly string[]): string {
  const filter = createEchoFilter();
  filter.expect(typed);
  return Buffer.concat(pieces.map((piece) => filter.strip(Buffer.from(piece)))).toString();
}

describe('echo filter', () => {
  it('RT28: takes out what was typed, however the terminal ends lines and wherever its output is split', () => {
    const cases = fc.record({ end: fc.constantFrom('\n', '\r\n'), output: fc.constantFrom('', 'out\n', 'two\r\n'), at: fc.nat(20) });
    fc.assert(
      fc.property(cases, ({ end, output, at }) => {
        const whole = `one${end}two${end}${output}`;
        expect(stripped('one\ntwo', [whole.slice(0, at), whole.slice(at)])).toBe(output);
      }),
    );
  });

  it('RT28: a program that does not echo loses nothing', () => {
    expect(stripped('secret', ['Welcome\n'])).toBe('Welcome\n');
  });
});
