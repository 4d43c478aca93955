/** Milliseconds before attempt `attempt` (from 1): doubling from 250 ms to 10 s, less up to half of it by `random` in [0, 1). */
export function backoff(attempt: number, random: number): number {
  const ceiling = Math.min(10_000, 250 * 2 ** Math.min(attempt - 1, 10));
  return Math.round(ceiling * (1 - random / 2));
}
