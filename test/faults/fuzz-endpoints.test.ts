/** A moment of what test/long/fuzz.test.ts does for a minute, at the endpoints that no other test of `npm test` fuzzes. */
import { someOf } from '@tendon/testing';
import { expect, it } from 'vitest';
import { SEED } from '../../packages/server/src/fuzz/hostile-values.test-support.ts';
import { ENDPOINTS } from './fuzz/endpoints.ts';

const HERE = ['the egress proxy', 'the git broker', 'imports', 'backups', 'the configuration'];

it.each(someOf(HERE, 2))('SV510: %s survives what nobody should send it', async (name) => {
  const { volleys, expectUnharmed } = await ENDPOINTS[name]!();
  for (const [index, volley] of volleys.entries()) await volley(SEED + index);
  await expectUnharmed();
  expect(Object.keys(Object.prototype)).toEqual([]);
});
