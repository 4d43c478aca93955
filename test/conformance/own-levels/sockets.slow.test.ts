import { expect, it } from 'vitest';
import { MANY_CHECKS_MS, missedIn } from './missed.ts';

it('nothing fails of the sockets of 2024', { timeout: MANY_CHECKS_MS }, async () => {
  expect(await missedIn('sockets')).toEqual([]);
});
