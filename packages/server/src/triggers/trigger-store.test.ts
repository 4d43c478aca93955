import { createMemoryStorage } from '@tendon/core/storage';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { systemClock as clock } from '../platform/system-clock.ts';
import { TriggerStore, type TriggerOwner } from './trigger-store.ts';
import { TRIGGER } from './triggers.test-support.ts';

it('SV1317: an organisation has its triggers, however many others have', async () => {
  const { records } = createMemoryStorage({ clock });
  const store = await TriggerStore.open({ records, jwtSecret: new Secret('a-secret'), clock, onChange: () => undefined });
  const made = async (times: number, owner: TriggerOwner): Promise<number> =>
    (await Promise.all(Array.from({ length: times }, () => store.create({ ...TRIGGER, ...owner }, undefined)))).filter(Boolean).length;
  expect(await made(101, { organisation_id: 'acme' })).toBe(100);
  expect([await made(1, { organisation_id: 'labs' }), await made(1, {})]).toEqual([1, 1]);
});
