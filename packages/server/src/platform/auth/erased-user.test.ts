/** Two servers, of which neither has heard of the other's changes: what one erases, the other had, and may be at work with. */
import { createMemoryStorage } from '@tendon/core/storage';
import { expect, it } from 'vitest';
import { systemClock as clock } from '../system-clock.ts';
import { openTokenStores, revokeAllOf } from './token-stores.ts';

const RULES = { domains: [], admins: [], trustsEmail: false, groupsClaim: 'groups', roles: undefined };
const PERSON = {
  issuer: 'https://id.example',
  subject: 'carl',
  name: 'Carl Sagan',
  email: 'c@id.example',
  isEmailVerified: true,
  groups: [],
};

async function two() {
  const { records } = createMemoryStorage({ clock });
  const other = await openTokenStores(records, clock, RULES);
  const one = await openTokenStores(records, clock, RULES);
  const stored = async (): Promise<string> =>
    JSON.stringify(await Promise.all(['users', 'memberships', 'api_keys', 'shares', 'logins'].map((each) => records.list(each))));
  return { one, other, stored };
}

it('SV1385: a login at a server that has yet to hear of the erasure of its user brings nothing of them back', async () => {
  const { one, other, stored } = await two();
  const signedIn = await other.users!.signIn(PERSON);
  const { userId } = signedIn as { readonly userId: string };
  await one.users!.erase(userId);
  expect(await other.users!.signIn(PERSON)).toEqual({ ok: false, why: 'disabled' });
  expect(await stored()).not.toMatch(/Carl|c@id|organisation_id/);
  expect(one.users!.users()).toMatchObject([{ id: userId, name: `erased user ${userId.slice(0, 8)}`, disabled: true, organisations: [] }]);
});

it('SV1313, SV1385: of who is disabled or erased also those keys, links and sessions end that another server gave a moment ago', async () => {
  const { one, other, stored } = await two();
  const { userId: user } = (await other.users!.signIn(PERSON)) as { readonly userId: string };
  const owner = { user, organisation: 'default' };
  await other.keys.issue({ name: 'laptop', scope: 'drive', owner }, undefined);
  await other.shares.issue({ conversation: 'c', owner }, undefined);
  await other.logins.issue({ key: owner }, undefined);
  await revokeAllOf(one, user);
  expect(await stored()).not.toMatch(/laptop|"conversation"|tendon|"hash"/);
});
