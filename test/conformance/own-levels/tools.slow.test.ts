import { expect, it } from 'vitest';
import { MANY_CHECKS_MS, missedIn } from './missed.ts';

it('nothing fails that a tool does', { timeout: MANY_CHECKS_MS }, async () => {
  expect(await missedIn('tools')).toEqual([]);
});
