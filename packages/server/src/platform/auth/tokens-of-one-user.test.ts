import { createMemoryStorage } from '@tendon/core/storage';
import { expect, it } from 'vitest';
import { systemClock } from '../system-clock.ts';
import { openTokenStores, type TokenOwner } from './token-stores.ts';

it('SV1316: a user takes no place of others: keys and links beyond theirs are refused, and with a session more the oldest ends', async () => {
  let seconds = 0;
  const clock = { ...systemClock, now: () => new Date(seconds * 1000) };
  const { keys, shares, logins } = await openTokenStores(createMemoryStorage({ clock }).records, clock);
  const [carl, bob] = [
    { user: 'carl', organisation: 'acme' },
    { user: 'bob', organisation: 'acme' },
  ] as const;
  const issued = async (times: number, issue: () => Promise<unknown>): Promise<number> =>
    (await Promise.all(Array.from({ length: times }, issue))).filter((one) => one !== undefined).length;
  const key = (owner?: TokenOwner) => keys.issue({ name: 'x', scope: 'read', ...(owner && { owner }) }, undefined);
  const share = (owner: TokenOwner) => shares.issue({ conversation: 'c', owner }, 60);
  expect([await issued(105, () => key(carl)), await issued(1, () => key(bob)), await issued(105, () => key())]).toEqual([100, 1, 105]);
  expect([await issued(1_005, () => share(carl)), await issued(1, () => share(bob))]).toEqual([1_000, 1]);
  const others = await logins.issue({ key: bob }, 3_600);
  const first = await logins.issue({ key: carl }, 3_600);
  for (seconds = 1; seconds <= 100; seconds += 1) await logins.issue({ key: carl }, 3_600);
  expect([logins.list.length, logins.find(first!.token), logins.find(others!.token)?.id]).toEqual([101, undefined, others!.held.id]);
});
