import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNoneDriver } from '@tendon/runtime';
import { openHostile, type Hostile } from './open-hostile.ts';
import type { Threat } from './threat.ts';
import { THREATS } from './threats.ts';

/** The other way round: what sees nothing here would hold everywhere. */
describe('without a sandbox', () => {
  const harmless = THREATS.flatMap(({ threats }): readonly Threat[] => threats).filter(({ isControl }) => isControl);
  let hostile: Hostile;
  beforeAll(async () => {
    hostile = await openHostile({ make: (executor) => createNoneDriver({ executor }), starts: 1 });
  });
  afterAll(() => hostile?.close());

  it.each(harmless)('SB128: $id gets out', async (threat) => {
    expect(await hostile.probe(threat)).toMatch(/^ESCAPED/m);
  });
});
