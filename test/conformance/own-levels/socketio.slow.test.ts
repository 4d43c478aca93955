import { expect, it } from 'vitest';
import { MANY_CHECKS_MS, missedIn } from './missed.ts';

it('nothing fails of Socket.IO', { timeout: MANY_CHECKS_MS }, async () => {
  expect(await missedIn('socketio')).toEqual([]);
});
