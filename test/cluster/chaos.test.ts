/**
 * Three servers on one Postgres, with executors and clients, while servers are killed, frozen and cut off, the database is killed, and servers
 * are replaced. `TENDON_CHAOS_TIMES` of each kind, for at least `TENDON_CHAOS_MINUTES`, on `TENDON_CHAOS_CLUSTERS` such clusters; of `TENDON_CHAOS_KIND` alone, where that is set.
 */
import { expect, it } from 'vitest';
import { ChaosRun } from './chaos/chaos-run.ts';
import { FAULTS, Tally } from './chaos/tally.ts';

const given = (name: string, otherwise: number): number => Number(process.env[`TENDON_CHAOS_${name}`] ?? otherwise);
const [times, minutes, clusters] = [given('TIMES', 3), given('MINUTES', 0), given('CLUSTERS', 1)];
const kinds = FAULTS.filter((kind) => kind === (process.env.TENDON_CHAOS_KIND ?? kind));
const options = { kinds, times, minutes, conversations: given('CONVERSATIONS', 6), steps: 12 };
/** A deadline: half a minute for each thing that happens. */
const TIMEOUT_MS = 300_000 + minutes * 90_000 + times * 5 * 30_000;

it(
  'EN1087, SV1240: whatever happens to servers and database, every conversation goes on as if nothing had',
  { timeout: TIMEOUT_MS },
  async () => {
    const tally = new Tally();
    await Promise.all(Array.from({ length: clusters }, () => ChaosRun.run(options, tally)));
    process.stdout.write(`${tally.table()}\n`);
    expect(kinds).not.toEqual([]);
    expect(tally.problems).toEqual([]);
  },
);
