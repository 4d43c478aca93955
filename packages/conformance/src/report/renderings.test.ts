import { expect, it } from 'vitest';
import type { CheckResult, Conformance, Verdict } from '../check.ts';
import { renderBadge, renderJson, renderMarkdown, renderTable } from './renderings.ts';

const result = (name: string, verdict: Verdict, why?: string): CheckResult => ({
  check: { id: `v0-rest/${name}`, title: `what ${name} is`, cites: ['DL97'], run: async () => {} },
  verdict,
  ms: 1,
  ...(why !== undefined && { why }),
});

const FOUND: Conformance = {
  url: 'http://127.0.0.1:1',
  server: 'Odd 1',
  results: [
    result('good', 'passed'),
    result('bad', 'failed', 'it broke'),
    result('known', 'deviates', 'it is known'),
    result('less', 'absent', 'not offered: there is no route /x'),
  ],
};

it('DL97: reports name what was not asked and leave it out of every total', () => {
  expect(renderTable(FOUND)).toBe(`FAIL  v0-rest/bad: what bad is
      it broke
dev   v0-rest/known: what known is
      it is known
–     v0-rest/less: what less is
      not offered: there is no route /x

Odd 1 at http://127.0.0.1:1
v0-rest        1 of 3, 1 known to deviate, 1 not asked
`);
  expect(JSON.parse(renderJson(FOUND))).toMatchObject({ levels: [{ level: 'v0-rest', passed: 1, known: 1, absent: 1, total: 3 }] });
  expect(renderBadge(FOUND)).toContain('conformance: 1 of 3');
  const page = renderMarkdown([FOUND]);
  expect(page).toContain('| `less` | what less is | DL97 | – |');
  expect(page).toContain('- `less` – Odd 1: not offered: there is no route /x');
});
