import { expect, it } from 'vitest';
import { readRetryAfter } from './classify-failure.ts';

const now = new Date('2026-01-01T00:00:00.000Z');

it.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': ' 0.5 ' }, 500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': 'Infinity' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
] as [Record<string, string>, number | undefined][])('LM31: %j is %s ms', (headers, expected) => {
  expect(readRetryAfter(headers, now)).toBe(expected);
});
