/** The whole conformance suite, asked of a gateway that has no conversation. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHECKS, conform, type CheckResult } from '@tendon/conformance';
import { Cluster } from './cluster.ts';

const MANY_CHECKS_MS = 40 * 60_000;
/** Is asked of a server with the shortest wait. */
const OF_SILENCE = 'v0-socketio/cells-hand-back';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start();
});
afterAll(() => cluster.remove());

it('SV1230: nothing of the conformance suite fails at a server that takes no conversation', { timeout: MANY_CHECKS_MS }, async () => {
  const env = { SANDBOX_NO_OUTPUT_SECONDS: '10' };
  const worker = await cluster.add(env);
  const gateway = await cluster.gateway(env);
  const only = CHECKS.filter(({ id }) => id !== OF_SILENCE).map(({ id }) => id);
  const { results } = await conform({ url: gateway.url, timeoutMs: 120_000, parallel: 2, only });
  const isAmiss = ({ check, verdict }: CheckResult): boolean => verdict !== 'passed' && !(verdict === 'absent' && check.needs === 'key');
  expect(results.filter(isAmiss).map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
  expect(results.length).toBeGreaterThan(200);
  expect(Object.keys(await cluster.owned())).toEqual([worker.url]);
});
