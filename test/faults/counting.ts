/** The run that the kill tests interrupt: shell steps, each appends its number to a file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TendonProcess, Watcher } from '@tendon/testing/servers';
import { expect, onTestFinished } from 'vitest';
import { startModelServer } from '../../bench/model-server.ts';

/** Enough for every kill to find one at work. */
export const STEPS = 30;

export interface Counting {
  readonly tendon: TendonProcess;
  readonly id: string;
  readonly watcher: Watcher;
  readonly steps: number;
}

interface CountingOptions {
  readonly entry?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly steps?: number;
}

/** Starts a server and the task, until the test is over; a client watches from the first event on. */
export async function startCounting({ entry, env: more, steps = STEPS }: CountingOptions = {}): Promise<Counting> {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const env = { LLM_MODEL: 'openai/bench', LLM_API_KEY: 'a-key-for-tests', LLM_BASE_URL: model.url, ...more };
  const tendon = await TendonProcess.start(env, entry);
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  await watcher.untilState('awaiting_user_input');
  watcher.send('message', { content: `BENCH:${steps}:echo $(({i}+1)) >> counter.txt; sleep 0.03`, image_urls: [], file_urls: [] });
  return { tendon, id, watcher, steps };
}

/** From the first step on: the server is killed and started again, each time so long after it was up. */
export async function killAndRestart({ tendon: server, watcher }: Counting, delaysMs: readonly number[]): Promise<void> {
  await watcher.until((event) => event.observation === 'run');
  for (const delayMs of delaysMs) {
    await sleep(delayMs);
    await server.kill('SIGKILL');
    await server.start();
  }
}

/** The counter has every step, the ids are gapless, and everything the client saw is in the log as it saw it, once. */
export async function expectExactlyOnce(counting: Counting): Promise<void> {
  const { tendon: server, id, watcher, steps } = counting;
  await watcher.untilState('finished');
  watcher.close();
  expect(counterLines(counting)).toEqual(Array.from({ length: steps }, (_, i) => i + 1));
  const log = await server.trajectory(id);
  expect(log.map((event) => event.id)).toEqual(log.map((_, i) => i));
  for (const { id: seenId, action, args, observation, content } of watcher.events) {
    expect(log[seenId]).toMatchObject(action ? { action, args } : { observation, content });
  }
  expect(new Set(watcher.events.map((event) => event.id)).size).toBe(watcher.events.length);
}

/** The numbers in the file that the steps append to. */
export function counterLines({ tendon: server, id }: Counting): number[] {
  const counter = readFileSync(join(server.home, 'workspaces', id, 'counter.txt'), 'utf8');
  return counter.trim().split('\n').map(Number);
}
