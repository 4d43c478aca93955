/** Holds the table of findings of docs/contracts/security.md to the tests that it names. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const PAGE = resolve(import.meta.dirname, '../../docs/contracts/security.md');

interface Finding {
  readonly id: string;
  readonly rules: readonly string[];
  readonly tests: readonly string[];
  readonly staysOpen: boolean;
}

function findings(): readonly Finding[] {
  const [, table = ''] = readFileSync(PAGE, 'utf8').split(/^## The review of .*$/m);
  return [...table.matchAll(/^\| ([A-Z]\d+[a-z]?) \| .* \| (.*) \| (.*) \|$/gm)].map(([, id = '', rules = '', tests = '']) => ({
    id,
    rules: rules.match(/\b[A-Z]{2}\d+\b/g) ?? [],
    tests: [...tests.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) => join(dirname(PAGE), path)),
    staysOpen: tests.includes('stays open'),
  }));
}

it('SB492: the review of 2026-11-22 has a row for each of its findings', () => {
  const wanted = ['C1', 'H1', 'H2', 'H3', 'H4', 'M1', 'M1b', ...'23456789'].map((id) => (/^\d/.test(id) ? `M${id}` : id));
  const rest = ['M10a', 'M10b', 'M10c', ...Array.from({ length: 10 }, (_, at) => `L${at + 1}`)];
  expect(findings().map(({ id }) => id)).toEqual([...wanted, ...rest]);
});

it('SB492: what stays open names no test', () => {
  const open = findings().filter(({ staysOpen }) => staysOpen);
  expect(open.flatMap(({ tests, rules }) => [...tests, ...rules])).toEqual([]);
});

const HELD = findings().filter(({ staysOpen }) => !staysOpen);

it.each(HELD.map((finding) => [finding.id, finding] as const))('SB492: %s is held by the tests that are named', (_id, finding) => {
  expect(finding.tests).not.toEqual([]);
  const texts = finding.tests.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : `no ${path}`));
  // Each rule is cited by one of the tests, and each test cites one of the rules.
  for (const rule of finding.rules) expect([rule, texts.some((text) => text.includes(rule))]).toEqual([rule, true]);
  for (const [at, text] of texts.entries())
    expect([finding.tests[at], finding.rules.some((rule) => text.includes(rule))]).toEqual([finding.tests[at], true]);
});
