/**
 * The executor dies in mid run, alone or together with the server: what was under way is reported as unknown, at most once a kill,
 * it is never run again, and the run goes on in a new sandbox.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { membersOf } from '../../bench/process-memory.ts';
import { itInFull, runs } from '@tendon/testing';
import { counterLines, startCounting, STEPS, type Counting } from './counting.ts';

const KILLS = runs(5, 3);
const SEED = 20_261_122;

/** The executors of this server's sandboxes, found from outside as anybody would: by their command lines. */
function executorPids({ tendon }: Counting): number[] {
  return membersOf(tendon.pid, tendon.home).filter(
    (pid) => commandLine(pid).includes('/executor/main.mjs') && !commandLine(pid).startsWith('bwrap'),
  );
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended on its own first.
    }
  }
}

/** Another executor than those before has answered: one that is killed in mid start ends the run with an error. `false` when the run is over. */
async function hasRunIn(counting: Counting, before: readonly number[]): Promise<boolean> {
  const { watcher } = counting;
  const isOver = (): boolean => watcher.events.some(({ extras }) => extras?.agent_state === 'finished');
  await expect.poll(() => isOver() || executorPids(counting).some((pid) => !before.includes(pid)), { interval: 20 }).toBe(true);
  const from = watcher.lastId;
  const next = await watcher.until(({ id, observation }) => isOver() || (id > from && observation === 'run'), 'a step in a new sandbox');
  return next.observation === 'run' && !isOver();
}

async function expectAtMostOnce(counting: Counting): Promise<void> {
  const { tendon, id, watcher } = counting;
  await watcher.untilState('finished');
  watcher.close();
  const lines = counterLines(counting);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  const log = await tendon.trajectory(id);
  expect(log.map((event) => event.id)).toEqual(log.map((_, i) => i));
  const unknown = log.filter((event) => event.extras?.error_id === 'AGENT_ERROR$OUTCOME_UNKNOWN');
  expect(unknown.length).toBeLessThanOrEqual(KILLS);
  const answered = log.filter((event) => event.observation === 'run').length;
  expect(answered + unknown.length).toBe(STEPS);
  expect(lines.length).toBeGreaterThanOrEqual(answered);
}

describe('the executor is killed with SIGKILL', () => {
  const delays = fc.array(fc.integer({ min: 50, max: 400 }), { minLength: KILLS, maxLength: KILLS });
  const [alone = [], both = []] = fc.sample(delays, { numRuns: 2, seed: SEED });

  it(`EN102: alone, after ${alone.join(', ')} ms`, async () => {
    const counting = await startCounting();
    let before: readonly number[] = [];
    for (const delayMs of alone) {
      if (!(await hasRunIn(counting, before))) break; // all steps were done between two kills
      await sleep(delayMs);
      before = executorPids(counting);
      killAll(before);
    }
    expect(before).not.toEqual([]);
    await expectAtMostOnce(counting);
  });

  itInFull(`EN102: together with the server, after ${both.join(', ')} ms`, async () => {
    const counting = await startCounting();
    await counting.watcher.until((event) => event.observation === 'run');
    for (const delayMs of both) {
      await sleep(delayMs);
      killAll([counting.tendon.pid, ...executorPids(counting)]);
      await counting.tendon.ended;
      await counting.tendon.start();
    }
    await expectAtMostOnce(counting);
  });
});
