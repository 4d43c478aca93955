/**
 * One sandbox at full tilt, another at work beside it on the same server: how much longer its steps take, and how soon `/alive` answers.
 * Quiet and loud rounds follow each other, so that whatever else the machine does is in both. That the other one gets what it wants at
 * all is asked on every driver by test/isolation/escape.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import { TendonProcess, Watcher } from '@tendon/testing/servers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { at } from '../../bench/at.ts';
import { NEIGHBOUR } from '../isolation/escape/threats/neighbour.ts';

const MEMORY_BYTES = 1024 ** 3;
const ATTEMPT = join(import.meta.dirname, '../isolation/escape/attempt.py');
const ROUNDS = 5;
const STEPS = 10;
/** What an agent does in a step: a program, a file, a look around. */
const STEP = 'python3 -c "print(sum(range(200000)))" > out && cat out && ls | wc -l';
/** The same, and the disk is asked to have it: `fsync`. */
const DURABLE_STEP = `${STEP} && python3 -c "import os; os.fsync(os.open('out', os.O_RDWR))"`;
const MAX_RATIO = 2;
/** A disk writes what all its users ask for in one queue: docs/spec/sandbox.md, known limits. */
const MAX_DURABLE_RATIO = 12;
const MAX_ALIVE_MS = 100;

const SINGLE = ['all-processors', 'all-memory', 'all-of-the-disk', 'all-entries', 'all-terminals', 'all-connections', 'endless-output'];

const folder = mkdtempSync(join(tmpdir(), 'tendon-neighbour-'));
let tendon: TendonProcess;
let hostile: Worker;
let neighbour: Worker;

beforeAll(async () => {
  tendon = await TendonProcess.scripted([{ text: 'hello' }], {
    RUNTIME: 'local',
    WORKSPACE_BASE: folder,
    SANDBOX_MEMORY: String(MEMORY_BYTES),
    SANDBOX_DISK: String(1024 ** 3),
    SANDBOX_NO_OUTPUT_SECONDS: '600',
  });
  [hostile, neighbour] = await Promise.all([Worker.begin('hostile'), Worker.begin('neighbour')]);
});
afterAll(async () => {
  for (const worker of [hostile, neighbour]) worker?.watcher.close();
  await tendon?.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A conversation with a folder of its own, whose user runs commands in its sandbox. */
class Worker {
  readonly watcher: Watcher;
  readonly folder: string;
  #count = 0;

  private constructor(watcher: Watcher, ownFolder: string) {
    this.watcher = watcher;
    this.folder = ownFolder;
  }

  static async begin(name: string): Promise<Worker> {
    mkdirSync(join(folder, name));
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { directory: name });
    const worker = new Worker(new Watcher(tendon.url, id), join(folder, name));
    await worker.watcher.untilState('awaiting_user_input');
    await worker.step('true');
    return worker;
  }

  /** Milliseconds from the request to its result. */
  async step(command: string): Promise<number> {
    const end = `the end of step ${this.#count++}.`;
    const asked = performance.now();
    this.watcher.send('run', { command: `${command}; echo ${end}` });
    await this.watcher.until(({ observation, content }) => observation === 'run' && content?.includes(end) === true, end);
    return performance.now() - asked;
  }
}

/** Starts what takes everything; resolves, when it has, with what ends it. */
async function takeAll(ids: readonly string[]): Promise<() => Promise<void>> {
  const places = ids.map((id) => join(hostile.folder, id));
  for (const [index, id] of ids.entries()) {
    const place = places[index]!;
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    copyFileSync(ATTEMPT, join(place, 'attempt.py'));
    writeFileSync(join(place, 'bait.json'), JSON.stringify({ memoryBytes: MEMORY_BYTES }));
    writeFileSync(join(place, 'takes.py'), `from attempt import *\n${NEIGHBOUR.find((threat) => threat.id === id)!.probe}`);
  }
  // What goes to the terminal must be the command itself.
  const commands = ids.map(
    (id) => `cd /workspace/${id} && python3 takes.py${id === 'endless-output' ? '' : ' > /dev/null 2>&1'}; touch ended`,
  );
  // A flood that was cut off in a title would take what follows for the rest of it, and in the last column break it.
  const ended = hostile.step(commands.map((command) => `(${command}) &`).join(' ') + " wait; printf '\\a\\n'");
  const without = (name: string) => places.filter((place) => !existsSync(join(place, name)));
  const all = (name: string) => expect.poll(() => without(name), { timeout: 60_000 }).toEqual([]);
  await all('taken');
  return async () => {
    for (const place of places) writeFileSync(join(place, 'let-go'), '');
    await all('ended');
    await ended;
  };
}

async function steps(command: string): Promise<number> {
  const times: number[] = [];
  for (let step = 0; step < STEPS; step++) times.push(await neighbour.step(command));
  return at(times, 0.5);
}

/** How many times as long a step takes beside it: the middle one of some rounds. And the 99th of a hundred answers of `/alive` meanwhile. */
async function measure(
  ids: readonly string[],
  command = STEP,
): Promise<{ readonly ratio: number; readonly aliveMs: number; readonly report: string }> {
  const ratios: number[] = [];
  const alive: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const quiet = await steps(command);
    const letGo = await takeAll(ids);
    const enough = askAlive();
    const loud = await steps(command);
    alive.push(...(await enough()));
    await letGo();
    ratios.push(loud / quiet);
  }
  const [ratio, aliveMs] = [at(ratios, 0.5), at(alive, 0.99)];
  const report = `steps × ${ratios.map((each) => each.toFixed(2)).join(', ')}; /alive p99 ${aliveMs.toFixed(1)} ms of ${alive.length}, worst ${Math.max(...alive).toFixed(1)} ms`;
  process.stdout.write(`${ids.join(', ')}: ${report}\n`);
  return { ratio, aliveMs, report };
}

/** Asks from now on; what it gives ends the asking and resolves with the milliseconds of each answer. */
function askAlive(): () => Promise<readonly number[]> {
  const thread = new Thread(new URL('./ask-alive.ts', import.meta.url), { workerData: { url: tendon.url } });
  const delays = once(thread, 'message') as Promise<[readonly number[]]>;
  delays.catch(() => {}); // the caller hears it when it asks
  return async () => {
    thread.postMessage('enough', []);
    return (await delays)[0];
  };
}

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ...SINGLE.map((id) => [id, [id]] as const),
  ['all of it at once', SINGLE],
];

it.each(CASES)('SB512: beside %s a step takes at most twice as long', { timeout: 600_000 }, async (_name, ids) => {
  const { ratio, aliveMs, report } = await measure(ids);
  expect(ratio, report).toBeLessThanOrEqual(MAX_RATIO);
  expect(aliveMs, report).toBeLessThanOrEqual(MAX_ALIVE_MS);
});

it('SB513: beside a disk at full tilt a step that waits for the disk ends', { timeout: 600_000 }, async () => {
  const { ratio, aliveMs, report } = await measure(['all-of-the-disk'], DURABLE_STEP);
  expect(ratio, report).toBeLessThanOrEqual(MAX_DURABLE_RATIO);
  expect(aliveMs, report).toBeLessThanOrEqual(MAX_ALIVE_MS);
});
