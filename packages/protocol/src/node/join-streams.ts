import type { Duplex } from 'node:stream';

/**
 * Passes everything on, both ways. What one side has sent before it ended still arrives; a side that fails ends the other at
 * once. Whoever opened them sets the deadlines.
 */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.pipe(to);
    from.on('close', () => (from.readableEnded ? void to.end(() => to.destroy()) : void to.destroy()));
  }
}
