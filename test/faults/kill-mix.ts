/**
 * One conversation and its server, killed again and again: at work, suspended, before a person's stop, with a full disk, with a clock that jumps,
 * and with the store put back from a backup in between. Every step writes a token that nothing else writes and prints it, so the log can be held against the world.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupStore, restoreStore, systemClock } from '@tendon/server/headless';
import { builtFaults, TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';
import fc from 'fast-check';
import { expect } from 'vitest';
import { startModelServer } from '../../bench/model-server.ts';

const ENTRY = builtFaults('faulty-server');
const STEPS = 12;
const HOUR_MS = 3_600_000;
/** `{i}` is the number of the step. */
const TASK = `BENCH:${STEPS}:t={i}.$RANDOM$(date +%N); echo $t >> tokens.txt; sleep 0.03; echo $t`;
const TOKEN = /^\d+\.\d+$/;
const WAIT_MS = 120_000;

export interface Strike {
  readonly kind: 'at-work' | 'asleep' | 'stop' | 'full-disk' | 'restore';
  /** After the agent is at work. */
  readonly delayMs: number;
  /** Of the next start's clock. */
  readonly clockMs: number;
}

/** One is as good as another; suspending takes a second or two, so it comes less often. */
export const strikes = fc.record<Strike>({
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant('at-work' as const) },
    { weight: 1, arbitrary: fc.constant('asleep' as const) },
    { weight: 2, arbitrary: fc.constant('stop' as const) },
    { weight: 2, arbitrary: fc.constant('full-disk' as const) },
    { weight: 1, arbitrary: fc.constant('restore' as const) },
  ),
  delayMs: fc.integer({ min: 0, max: 400 }),
  clockMs: fc.constantFrom(0, -HOUR_MS, HOUR_MS),
});

export function titleOf(all: readonly Strike[]): string {
  return all.map(({ kind, delayMs, clockMs }) => `${kind} ${delayMs}${clockMs === 0 ? '' : clockMs < 0 ? '−1h' : '+1h'}`).join(', ');
}

/** Strikes in turn, lets the agent finish, and compares the log with what was done. */
export async function expectTheTruthAfter(all: readonly Strike[]): Promise<void> {
  const model = await startModelServer();
  const env = { LLM_MODEL: 'openai/bench', LLM_API_KEY: 'a-key-for-tests', LLM_BASE_URL: model.url, SANDBOX_IDLE_SECONDS: '1' };
  const tendon = await TendonProcess.start(env, ENTRY);
  try {
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
    const struck = new Struck(tendon, id);
    for (const strike of all) await struck.by(strike);
    expectTruth(await struck.end());
  } finally {
    await tendon.remove();
    model.close();
  }
}

interface Ending {
  readonly log: readonly WireEvent[];
  /** By a client, since the store was put back last. */
  readonly seen: readonly WireEvent[];
  /** Of steps that were really run, in their order. */
  readonly tokens: readonly string[];
  readonly restores: number;
  readonly stops: number;
  readonly output: string;
}

function expectTruth({ log, seen, tokens, restores, stops, output }: Ending): void {
  expect(log.map((event) => event.id)).toEqual(log.map((_, id) => id));
  for (const { id, action, args, observation, content } of seen)
    expect(log[id]).toMatchObject(action ? { action, args } : { observation, content });
  const runs = log.filter(({ action, source }) => action === 'run' && source === 'agent');
  const answers = runs.map((run) => log.filter(({ cause }) => cause === run.id));
  expect(answers.map(({ length }) => length)).toEqual(runs.map(() => 1));
  const kinds = answers.map(([answer], index) => kindOf(answer!, runs[index]!));
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  const recorded = kinds.filter((kind) => TOKEN.test(kind));
  expect(kinds.filter((kind) => kind.startsWith('false: '))).toEqual([]);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(tokens.filter((token) => recorded.includes(token))).toEqual(recorded);
  expect(count('unknown')).toBeLessThanOrEqual(restores);
  expect(count('interrupted') + count('not executed')).toBeLessThanOrEqual(stops);
  // What was done after a backup is done, though the log that was put back does not have it.
  if (restores === 0) expect(tokens.length - recorded.length).toBeLessThanOrEqual(count('interrupted'));
  expect(output).not.toMatch(/\b(?:unhandled|uncaught)\b/i);
}

/** What the log says of a step; the token that it printed, where it ran to its end. */
function kindOf({ observation, content = '', extras }: WireEvent, { args }: WireEvent): string {
  if (observation === 'run') {
    if (extras?.command !== args?.command) return `false: ${String(args?.command)} is answered with ${content}`;
    return TOKEN.test(content.trim()) ? content.trim() : 'interrupted';
  }
  if (extras?.error_id === 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED') return 'not executed';
  return extras?.error_id === 'AGENT_ERROR$OUTCOME_UNKNOWN' ? 'unknown' : `false: ${content}`;
}

function fail(problem: string): never {
  throw new Error(problem);
}

class Struck {
  readonly #tendon: TendonProcess;
  readonly #id: string;
  #watcher: Watcher;
  #restores = 0;
  #stops = 0;

  constructor(tendon: TendonProcess, id: string) {
    this.#tendon = tendon;
    this.#id = id;
    this.#watcher = new Watcher(tendon.url, id);
  }

  async by({ kind, delayMs, clockMs }: Strike): Promise<void> {
    if (kind === 'asleep') await this.#untilHibernated();
    else await this.#work();
    if (kind === 'full-disk') this.#fillDisk();
    if (kind !== 'asleep') await sleep(delayMs); // where it is hit is the point: any moment will do
    if (kind === 'restore') await this.#restoreLater(delayMs);
    else await this.#tendon.kill('SIGKILL');
    await this.#tendon.start({ TENDON_CLOCK: String(clockMs) });
    if (kind === 'stop') await this.#stop();
  }

  /** Lets the agent finish. */
  async end(): Promise<Ending> {
    const log = await this.#untilRest();
    this.#watcher.close();
    const tokens = readFileSync(join(this.#tendon.home, 'workspaces', this.#id, 'tokens.txt'), 'utf8')
      .trim()
      .split('\n');
    const { events: seen } = this.#watcher;
    return { log, seen, tokens, restores: this.#restores, stops: this.#stops, output: this.#tendon.output };
  }

  get #state(): unknown {
    return this.#watcher.events.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state;
  }

  get #runsSeen(): number {
    return this.#watcher.events.filter(({ observation }) => observation === 'run').length;
  }

  /** A task that is not finished yet. */
  async #work(): Promise<void> {
    await this.#until('the history to be there', () => this.#state !== undefined);
    if (this.#state !== 'running') await this.#tendon.json(`/api/conversations/${this.#id}/message`, { message: TASK });
  }

  /** As soon as it is up again: what the process before had begun is the first thing that it is asked about. */
  async #stop(): Promise<void> {
    this.#stops += 1;
    const { length } = this.#watcher.events;
    this.#watcher.send('change_agent_state', { agent_state: 'stopped' });
    const isStopped = ({ observation, extras }: WireEvent): boolean =>
      observation === 'agent_state_changed' && extras?.agent_state === 'stopped';
    await this.#until('the agent to stop', () => this.#watcher.events.slice(length).some(isStopped));
  }

  async #untilRest(): Promise<readonly WireEvent[]> {
    let log: readonly WireEvent[] = [];
    await this.#until('the agent to have finished', async () => {
      log = await this.#tendon.trajectory(this.#id);
      const state = log.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state;
      return state === 'finished' || state === 'stopped' || state === 'awaiting_user_input' || state === 'error';
    });
    await this.#until('the client to have heard', () => this.#watcher.lastId >= log.length - 1);
    return log;
  }

  async #untilHibernated(): Promise<void> {
    await this.#work();
    await this.#untilRest();
    await this.#until('the sandbox to be suspended', async () => {
      const { sandboxes } = await this.#tendon.json<{ sandboxes: { conversation_id: string; state: string }[] }>('/api/sandboxes');
      return sandboxes.some(({ conversation_id, state }) => conversation_id === this.#id && state === 'asleep');
    });
  }

  /** For the rest of this process's life its files do not grow beyond a little more. */
  #fillDisk(): void {
    const bytes = (statSync(join(this.#tendon.home, 'tendon.db-wal'), { throwIfNoEntry: false })?.size ?? 0) + 24_576;
    execFileSync('prlimit', ['--pid', String(this.#tendon.pid), `--fsize=${bytes}:unlimited`]);
  }

  /** Kills it, copies its store, lets it go on for a while, kills it again, and puts the copy back. */
  async #restoreLater(afterMs: number): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'tendon-mix-'));
    const { home } = this.#tendon;
    const from = join(folder, 'backup');
    try {
      await this.#tendon.kill('SIGKILL');
      await backupStore({ home, to: from, withSecrets: false, now: new Date(), onProblem: fail });
      await this.#tendon.start();
      await this.#work();
      // Ids that the store will give again have to be of actions that were run.
      const known = this.#runsSeen;
      await this.#until('a step after the backup', () => this.#runsSeen > known + 3);
      await sleep(afterMs);
      await this.#tendon.kill('SIGKILL');
      this.#watcher.close();
      const { aside } = await restoreStore({
        from,
        home,
        folders: { workspaceBase: undefined, allowedDirs: [] },
        force: true,
        clock: systemClock,
      });
      if (aside) rmSync(aside, { recursive: true, force: true });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    this.#restores += 1;
    this.#watcher = new Watcher(this.#tendon.url, this.#id);
  }

  async #until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + WAIT_MS;
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`it never came to this: ${what}; state ${String(this.#state)}\n${this.#tendon.output}`);
      await sleep(20);
    }
  }
}
