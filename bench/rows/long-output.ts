import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, execute, executorFolder, never } from '@tendon/runtime/testing';
import { membersOf, pssMiB } from '../process-memory.ts';
import type { Figures, Row } from '../row.ts';

const TEXT = "yes 'a line as compilers and test runners print them, neither short nor long' | head -c 100000000";
const NOISE = 'head -c 100000000 /dev/urandom';
const SETTLED_MS = 1000;
const LOOK_EVERY_MS = 20;

/** From the action to its observation, with a reader of the live output, in a sandbox of the driver `local`. */
const timeOf = (title: string, command: string): Row => ({
  title,
  of: 'build',
  measure: (_build, { rounds }) =>
    inSandboxes(rounds, async (run) => {
      const started = performance.now();
      await run(command);
      return performance.now() - started;
    }),
});

export const longText = timeOf('100 MB of text printed by a command, action → observation, ms', TEXT);
export const longNoise = timeOf('  the same of random bytes, ms', NOISE);

/** Of the executor and everything it started, at its highest while either comes, over before. */
export const outputMemory: Row = {
  title: '  memory meanwhile, growth of the sandbox at its highest, PSS MiB',
  of: 'build',
  measure: (_build, { rounds }) =>
    inSandboxes(rounds, async (run, memory) => {
      const before = memory();
      let highest = before;
      const timer = setInterval(() => (highest = Math.max(highest, memory())), LOOK_EVERY_MS);
      await run(TEXT);
      await run(NOISE);
      clearInterval(timer);
      return Math.max(highest, memory()) - before;
    }),
};

type Measure = (run: (command: string) => Promise<unknown>, memory: () => number) => Promise<number>;

async function inSandboxes(rounds: number, measure: Measure): Promise<Figures> {
  const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
  try {
    const figures: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const runtime = await sandboxes.runtimes.acquire(`round ${round}`, { signal: never });
      await execute(runtime, 'true');
      await sleep(SETTLED_MS);
      const memory = () => pssMiB(membersOf(-1, runtime.incarnation));
      figures.push(await measure((command) => execute(runtime, command), memory));
      await sandboxes.runtimes.stop(`round ${round}`);
    }
    return figures;
  } finally {
    await sandboxes.close();
  }
}
