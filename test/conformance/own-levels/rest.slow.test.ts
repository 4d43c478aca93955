import { expect, it } from 'vitest';
import { MANY_CHECKS_MS, missedIn } from './missed.ts';

it('nothing fails of REST, the document of events and resilience', { timeout: MANY_CHECKS_MS }, async () => {
  expect(await missedIn('rest')).toEqual([]);
});
