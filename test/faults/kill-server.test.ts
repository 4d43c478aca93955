/**
 * The server dies in mid run, for real, and is started again: nothing is lost and nothing ran twice. The executor outlives it.
 * Random instants here; the named stages (before and after append, dispatch, answer) in `kill-at-stage.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer, type ModelServer } from '../../bench/model-server.ts';
import { TendonProcess, Watcher } from '../support/tendon-process.ts';

const STEPS = 30;
const RUNS = 4;
const KILLS_PER_RUN = 5;
/** Every instant of a run is drawn from here; a failing run is repeated by its seed. */
const SEED = 20_261_121;

let model: ModelServer;
let tendon: TendonProcess | undefined;

beforeAll(async () => {
  model = await startModelServer();
  return () => model.close();
});
afterEach(() => tendon?.remove());

/** Starts the counting task; resolves when its first step is in the log. */
async function startCounting(): Promise<{ tendon: TendonProcess; id: string; watcher: Watcher }> {
  tendon = await TendonProcess.start({ LLM_MODEL: 'openai/bench', LLM_API_KEY: 'a-key-for-tests', LLM_BASE_URL: model.url });
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {
    initial_user_msg: `BENCH:${STEPS}:echo $(({i}+1)) >> counter.txt; sleep 0.03`,
  });
  const watcher = new Watcher(tendon.url, id);
  await watcher.until((event) => event.observation === 'run');
  return { tendon, id, watcher };
}

async function expectExactlyOnce({ tendon, id, watcher }: { tendon: TendonProcess; id: string; watcher: Watcher }): Promise<void> {
  await watcher.untilState('finished');
  watcher.close();
  const counter = readFileSync(join(tendon.home, 'workspaces', id, 'counter.txt'), 'utf8')
    .trim()
    .split('\n')
    .map(Number);
  expect(counter).toEqual(Array.from({ length: STEPS }, (_, i) => i + 1));
  const log = await tendon.trajectory(id);
  expect(log.map((event) => event.id)).toEqual(log.map((_, i) => i));
  const byId = new Map(log.map((event) => [event.id, event]));
  for (const seen of watcher.events) {
    const { action, args, observation, content } = seen;
    expect(byId.get(seen.id)).toMatchObject(action ? { action, args } : { observation, content });
  }
  expect(new Set(watcher.events.map((event) => event.id)).size).toBe(watcher.events.length);
}

describe('the server is killed with SIGKILL', () => {
  const instants = fc.sample(fc.array(fc.integer({ min: 0, max: 350 }), { minLength: KILLS_PER_RUN, maxLength: KILLS_PER_RUN }), {
    numRuns: RUNS,
    seed: SEED,
  });
  for (const [run, delaysMs] of instants.entries()) {
    it(
      `EN1: run ${run + 1}, killed ${delaysMs.join(', ')} ms after it was up: every step ran exactly once`,
      { timeout: 180_000 },
      async () => {
        const counting = await startCounting();
        for (const delayMs of delaysMs) {
          await sleep(delayMs);
          await counting.tendon.kill('SIGKILL');
          await counting.tendon.start();
        }
        await expectExactlyOnce(counting);
      },
    );
  }
});
