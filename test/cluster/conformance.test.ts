/** The whole conformance suite, asked of a gateway that has no conversation. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CHECKS, conform, type CheckResult } from '@tendon/conformance';
import type { TendonProcess } from '@tendon/testing/servers';
import { Cluster } from './cluster.ts';

const MANY_CHECKS_MS = 40 * 60_000;
/** Is asked of a server with the shortest wait. */
const OF_SILENCE = 'v0-socketio/cells-hand-back';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await Cluster.start();
});
afterEach(() => cluster.remove());

it.each([1, 2])(
  'SV1230: nothing of the conformance suite fails at a server that takes no conversation, beside so many that do: %i',
  { timeout: MANY_CHECKS_MS },
  async (many) => {
    const env = { SANDBOX_NO_OUTPUT_SECONDS: '10' };
    const workers: TendonProcess[] = [];
    while (workers.length < many) workers.push(await cluster.add(env));
    const gateway = await cluster.gateway(env);
    const only = CHECKS.filter(({ id }) => id !== OF_SILENCE).map(({ id }) => id);
    const { results } = await conform({ url: gateway.url, timeoutMs: 120_000, parallel: 2, only });
    const isAmiss = ({ check, verdict }: CheckResult): boolean => verdict !== 'passed' && !(verdict === 'absent' && check.needs === 'key');
    expect(results.filter(isAmiss).map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
    expect(results.length).toBeGreaterThan(200);
    expect(Object.keys(await cluster.owned()).toSorted()).toEqual(workers.map(({ url }) => url).toSorted());
  },
);
