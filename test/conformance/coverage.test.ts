import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKS, deviationOf, levelOf, LEVELS, readDeviations } from '@tendon/conformance';
import { idsOf } from './ids-of.ts';
import { NOT_ON_THE_WIRE } from './not-on-the-wire.ts';

const ROOT = join(import.meta.dirname, '../..');
const SPEC = join(ROOT, 'docs/spec');
const text = readdirSync(SPEC)
  .map((name) => readFileSync(join(SPEC, name), 'utf8'))
  .join('\n');
const rules = [...text.matchAll(/^- \*\*([A-Z]{2}\d+)\*\*/gm)].map(([, id]) => id!);
const rows = [...text.matchAll(/^\| ([A-T]\d+(?:–[A-T]\d+)?) \|/gm)].flatMap(([, ids]) => idsOf(ids!));
const known = new Set([...rules, ...rows]);
const cited = new Set(CHECKS.flatMap(({ cites }) => cites));
const listed = NOT_ON_THE_WIRE.flatMap(({ ids }) => idsOf(ids));

describe('the conformance suite', () => {
  it('DL94: has checks on every level, each with a name of its own', () => {
    expect(new Set(CHECKS.map(levelOf))).toEqual(new Set(LEVELS));
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  it('DL94: cites only rules and rows that exist, and each check cites one', () => {
    expect([...cited].filter((id) => !known.has(id))).toEqual([]);
    expect(CHECKS.filter(({ cites }) => cites.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it('DL96: asks for every rule and every row, or it is listed why no client can', () => {
    const asked = new Set([...cited, ...listed]);
    expect([...known].filter((id) => !asked.has(id))).toEqual([]);
  });

  it('DL96: lists once, and only what exists and no check asks', () => {
    expect(listed.filter((id, index) => listed.indexOf(id) !== index)).toEqual([]);
    expect(listed.filter((id) => !known.has(id) || cited.has(id))).toEqual([]);
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
