import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEVELS, levelOf } from '../../packages/cli/src/conformance/check.ts';
import { CHECKS } from '../../packages/cli/src/conformance/levels/index.ts';
import { deviationOf, readDeviations } from '../../packages/cli/src/conformance/deviations.ts';

const ROOT = join(import.meta.dirname, '../..');
const SPEC = join(ROOT, 'docs/spec');
const text = readdirSync(SPEC)
  .map((name) => readFileSync(join(SPEC, name), 'utf8'))
  .join('\n');
const rules = new Set([...text.matchAll(/^- \*\*([A-Z]{2}\d+)\*\*/gm)].map(([, id]) => id!));
const rows = new Set(
  [...text.matchAll(/^\| ([A-T])(\d+)(?:–\1(\d+))? \|/gm)].flatMap(([, letter, first, last]) =>
    Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, index) => `${letter}${Number(first) + index}`),
  ),
);

describe('the conformance suite', () => {
  it('DL94: has checks on every level, each with a name of its own', () => {
    expect(new Set(CHECKS.map(levelOf))).toEqual(new Set(LEVELS));
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  it('DL94: cites only rules and rows that exist, and each check cites one', () => {
    const cited = CHECKS.flatMap(({ id, cites }) => (cites.length > 0 ? cites : [`nothing by ${id}`]));
    expect(cited.filter((one) => !rules.has(one) && !rows.has(one))).toEqual([]);
  });

  it('DL95: known deviations name checks that exist, and why', async () => {
    const folder = join(import.meta.dirname, 'deviations');
    for (const name of readdirSync(folder)) {
      const file = await readDeviations(join(folder, name));
      const used = new Set(CHECKS.map(({ id }) => deviationOf(file, id)));
      expect(Object.values(file.deviations).filter((why) => !used.has(why))).toEqual([]);
    }
  });
});
