import { expect, it } from 'vitest';
import type { Caller } from '../platform/auth/caller.ts';
import { isFoundBy, seesConversation } from './conversation-access.ts';

const caller = (userId: string | undefined, organisationId: string | undefined, scope: Caller['scope']): Caller => ({
  keyName: 'key 1',
  scope,
  ...(userId !== undefined && { userId }),
  ...(organisationId !== undefined && { organisationId }),
});
const ada = { id: 'ada', name: 'Ada' };
const acme = { organisation_id: 'acme', created_by: ada };
const hidden = { ...acme, is_private: true };

it.each([
  ['no user', caller(undefined, undefined, 'read'), [true, true, true]],
  ['a member', caller('bob', 'acme', 'drive'), [true, false, false]],
  ['who began it', caller('ada', 'acme', 'read'), [true, true, false]],
  ['an admin', caller('eve', 'acme', 'admin'), [true, true, false]],
  ['an admin of another', caller('eve', 'labs', 'admin'), [false, false, false]],
  ['who began it, acting in another', caller('ada', 'labs', 'admin'), [false, false, false]],
  ['a user of no organisation', caller('bob', undefined, 'admin'), [false, false, false]],
] as const)('SV1310 SV1312: %s sees an organisation’s, a private one, one of nobody’s: %#', (_who, by, seen) => {
  expect([acme, hidden, {}].map((record) => seesConversation(by, record))).toEqual(seen);
});

it('SV1315: an agent finds what everybody could see who sees its own conversation', () => {
  const bobs = { organisation_id: 'acme', created_by: { id: 'bob', name: 'Bob' } };
  expect(isFoundBy(bobs, acme)).toBe(true);
  expect(isFoundBy(bobs, hidden)).toBe(false);
  // Bob sees it, and asks its agent.
  expect(isFoundBy(acme, hidden)).toBe(false);
  expect(isFoundBy(hidden, hidden)).toBe(true);
  expect(isFoundBy({ ...bobs, is_private: true }, hidden)).toBe(false);
  expect(isFoundBy({ ...bobs, organisation_id: 'labs' }, acme)).toBe(false);
  expect([isFoundBy({}, acme), isFoundBy(acme, {}), isFoundBy({}, {})]).toEqual([false, false, true]);
});
