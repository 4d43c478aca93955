import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEVELS } from '../../packages/cli/src/conformance/check.ts';
import { conform } from '../../packages/cli/src/conformance/conform.ts';
import { TendonProcess } from '../support/tendon-process.ts';

describe('the conformance suite on Tendon itself', () => {
  let tendon: TendonProcess;
  beforeAll(async () => {
    tendon = await TendonProcess.start();
  });
  afterAll(() => tendon.remove());

  it.each(LEVELS)('nothing of level %s fails', { timeout: 240_000 }, async (level) => {
    const { results } = await conform({ url: tendon.url, levels: [level] });
    expect(results.filter(({ verdict }) => verdict !== 'passed').map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
  });
});
