import { expect, it } from 'vitest';
import { untilUnused } from './serve-until-signal.ts';

/** How often it looked before it ended, if it was used at these looks. */
async function looksWithUse(...used: readonly number[]): Promise<number> {
  let looks = 0;
  await untilUnused(
    () => used.includes(looks),
    async () => (looks += 1),
  );
  return looks;
}

it('CL960: a server waits longer for the client that started it than for one that comes back', async () => {
  const never = await looksWithUse();
  const once = await looksWithUse(0);
  expect(never).toBeGreaterThan(3 * once);
  expect(await looksWithUse(never - 1)).toBe(never - 1 + once);
  expect(await looksWithUse(0, once - 1)).toBe(once - 1 + once);
});
