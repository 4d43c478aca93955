import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, CHECKS } from '@tendon/conformance';
import { someOf } from '@tendon/testing';

const ROOT = join(import.meta.dirname, '../../..');
const TITLE = /\b(?:it|describe)\b.*?\(\s*['"`]([A-Z]{2}\d[^'"`]*)/g;
const RULE = /\b[A-Z]{2}\d+\b/g;

/**
 * What a daily run asks of our own server: the checks without which a rule or row would be asked by nothing, neither by another of these
 * checks nor by a test of ours that cites it; and some of the rest. The long tests ask everything.
 */
export function dailyChecks(): ReadonlySet<Check> {
  const proven = citedByTests();
  const chosen: Check[] = [];
  const rest: Check[] = [];
  for (const check of CHECKS.toSorted((a, b) => b.cites.length - a.cites.length)) {
    (check.cites.every((id) => proven.has(id)) ? rest : chosen).push(check);
    for (const id of check.cites) proven.add(id);
  }
  return new Set([...chosen, ...someOf(rest)]);
}

/** Rules in the titles of all other tests that `npm test` runs. */
function citedByTests(): Set<string> {
  const files = globSync('{packages/*/src,test/{e2e,faults,isolation}}/**/*.test.{ts,tsx}', { cwd: ROOT, exclude: ['**/*.long.test.ts'] });
  const titles = files.flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(TITLE)].map(([, title = '']) => title));
  return new Set(titles.flatMap((title) => title.match(RULE) ?? []));
}
