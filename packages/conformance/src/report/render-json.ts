import type { Conformance } from '../result.ts';
import { tally } from './render-table.ts';

/** For machines; stable names. Ends with a line end. */
export function renderJson(conformance: Conformance): string {
  const { server, url, results } = conformance;
  const checks = results.map(({ check: { id, title, cites }, verdict, ms, why }) => ({
    id,
    title,
    cites,
    verdict,
    ms: Math.round(ms),
    ...(why && { why }),
  }));
  return `${JSON.stringify({ server, url, levels: tally(results), checks }, null, 2)}\n`;
}
