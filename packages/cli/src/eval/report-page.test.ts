import { expect, it } from 'vitest';
import { evalTotals } from './eval-figures.ts';
import type { AttemptResult } from './journal.ts';
import { reportPage } from './report-page.ts';

const attempt = (more: Partial<AttemptResult>): AttemptResult => ({
  task: 'a',
  attempt: 1,
  digest: 'x',
  conversation: 'c',
  solved: false,
  detail: '',
  use: { usd: 0.5, unpricedTokens: 0, promptTokens: 1000, completionTokens: 10, steps: 3, seconds: 2.5 },
  ...more,
});

it('EV909: counts tasks, attempts, cost and failures, and estimates pass@k', () => {
  const attempts = [
    attempt({ solved: true }),
    attempt({ attempt: 2, failure: 'check' }),
    attempt({ task: 'b', failure: 'time' }),
    attempt({ task: 'b', attempt: 2, failure: 'check' }),
  ];
  expect(evalTotals(attempts, { left: 1, usd: 9 })).toEqual({
    tasks: 2,
    tasksSolved: 1,
    attempts: 4,
    solved: 1,
    left: 1,
    passAt: { 1: 0.25, 2: 0.5 },
    usd: 9,
    unpricedTokens: 0,
    promptTokens: 4000,
    completionTokens: 40,
    steps: 12,
    seconds: 10,
    failures: { check: 2, time: 1 },
  });
});

it('EV910: hostile text stays text, and the page refuses scripts and addresses', () => {
  const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&\u202e\u0007`;
  const page = reportPage({
    dataset: hostile,
    model: hostile,
    totals: evalTotals([], { left: 0, usd: 0 }),
    attempts: [
      { ...attempt({ detail: hostile, failure: 'check' }), task: hostile, tags: [hostile], trajectory: `trajectories/"><b>.json` },
    ],
  });
  expect(page).toContain("default-src 'none'");
  for (const part of ['<script', '<img', '<b>', '\u202e', '\u0007']) expect(page).not.toContain(part);
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect([...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address)).toEqual(['trajectories/%22%3E%3Cb%3E.json']);
});
