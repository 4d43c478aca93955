/** The server kills itself at each stage of a step, up to three times in one run, and is started again. */
import { fileURLToPath } from 'node:url';
import { runs } from '@tendon/testing';
import { describe, it } from 'vitest';
import { expectExactlyOnce, startCounting } from './counting.ts';
import { STAGES } from './faulty-server.ts';

const entry = fileURLToPath(new URL('faulty-server.ts', import.meta.url));
const OCCURRENCES = [6, 7, 8].slice(0, runs(3));
const HOUR_MS = 3_600_000;

describe('the server dies at a stage of a step', () => {
  for (const stage of STAGES) {
    it(`EN100: ${stage}: every step ran exactly once, nothing a client saw is missing`, { timeout: 180_000 }, async () => {
      const counting = await startCounting({ entry, env: { TENDON_FAULT: `${stage}:${OCCURRENCES[0]}` } });
      for (const occurrence of [...OCCURRENCES.slice(1), 0]) {
        await counting.tendon.ended;
        await counting.tendon.start({ TENDON_FAULT: `${stage}:${occurrence}` });
      }
      await expectExactlyOnce(counting);
    });

    it(`EN167: ${stage}, and the clock goes an hour back and forward`, { timeout: 180_000 }, async () => {
      const faultAt = (occurrence: number, clockMs: number, jumpMs: number): NodeJS.ProcessEnv => ({
        TENDON_FAULT: `${stage}:${occurrence}`,
        TENDON_CLOCK: String(clockMs),
        TENDON_JUMP: `${stage}:3:${jumpMs}`,
      });
      const counting = await startCounting({ entry, env: faultAt(6, 0, HOUR_MS) });
      const starts = [faultAt(7, 0, -HOUR_MS), faultAt(8, -HOUR_MS, HOUR_MS), faultAt(0, -HOUR_MS, 0)];
      for (const env of starts) {
        await counting.tendon.ended;
        await counting.tendon.start(env);
      }
      await expectExactlyOnce(counting);
    });
  }
});
