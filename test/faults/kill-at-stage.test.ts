/** The server kills itself at each stage of a step and is started again: at three stages daily, three times at each, with and without a clock that jumps, in the long tests. */
import { runs, someOf } from '@tendon/testing';
import { builtFaults } from '@tendon/testing/servers';
import { describe, it } from 'vitest';
import { expectExactlyOnce, startCounting } from './counting.ts';
import { STAGES } from './faulty-server.ts';

const entry = builtFaults('faulty-server');
const HOUR_MS = 3_600_000;
/** How often a process comes to the stage before it is killed there. */
const KILLS = [6, 7, 8];
const STEPS = runs(30, 10);
/** By how much the clock of a process is off at its start, and from the third time on that it comes to the stage. */
const CLOCKS_MS = [
  [0, HOUR_MS],
  [0, -HOUR_MS],
  [-HOUR_MS, HOUR_MS],
] as const;

/** One process after the other over the same home; the last is not killed. */
async function expectExactlyOnceAcross([first, ...others]: readonly NodeJS.ProcessEnv[]): Promise<void> {
  const counting = await startCounting({ entry, env: first, steps: STEPS });
  for (const env of others) {
    await counting.tendon.ended;
    await counting.tendon.start(env);
  }
  await expectExactlyOnce(counting);
}

describe('the server dies at a stage of a step', () => {
  it.each(someOf(STAGES, []))('EN100: %s: every step ran exactly once, nothing a client saw is missing', (stage) =>
    expectExactlyOnceAcross([...KILLS.slice(0, runs(3, 2)), 0].map((nth) => ({ TENDON_FAULT: `${stage}:${nth}` }))),
  );

  // Once at three stages daily: the clock goes forward at some of them and back at others.
  it.each(someOf([...STAGES.entries()], 3))(
    'EN100, EN167: %i, %s, and the clock goes an hour back and forward',
    { timeout: 180_000 },
    (index, stage) => {
      const killed = KILLS.slice(0, runs(3, 1)).map((nth, process) => {
        const [clockMs, jumpMs] = CLOCKS_MS[(index + process) % CLOCKS_MS.length] ?? [0, 0];
        return { TENDON_FAULT: `${stage}:${nth}`, TENDON_CLOCK: String(clockMs), TENDON_JUMP: `${stage}:3:${jumpMs}` };
      });
      return expectExactlyOnceAcross([...killed, { TENDON_FAULT: '', TENDON_JUMP: '', TENDON_CLOCK: String(-HOUR_MS) }]);
    },
  );
});
