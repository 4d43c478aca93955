/** Longer than a server takes that is started again. */
const RESTART_MS = 30_000;

/**
 * Milliseconds before attempt `attempt` (from 1) of a connection that was lost `awayMs` ago: doubling from 250 ms to 2 s, and after half a
 * minute to 10 s, less up to half of it by `random` in [0, 1).
 */
export function pauseMs(attempt: number, awayMs: number, random: number): number {
  const ceiling = Math.min(awayMs < RESTART_MS ? 2_000 : 10_000, 250 * 2 ** Math.min(attempt - 1, 10));
  return Math.round(ceiling * (1 - random / 2));
}
