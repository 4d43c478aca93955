/**
 * A server that kills itself, with SIGKILL, when it comes to a stage for the nth time: `TENDON_FAULT=<stage>:<n>`. Its clock is off by
 * `TENDON_CLOCK=<ms>` from the start on, and by another time from when it comes to a stage for the nth time: `TENDON_JUMP=<stage>:<n>:<ms>`.
 * The faults stand between the engine and what it drives; the product has no hook for them but the seams it is composed of.
 */
import { flushCompileCache } from 'node:module';
import type { EventLog, Runtime, Runtimes } from '@tendon/core';
import { readConfig, startServer, systemClock } from '@tendon/server';

export const STAGES = ['before-append', 'after-append', 'before-dispatch', 'after-dispatch', 'before-answer', 'after-answer'] as const;
export type Stage = (typeof STAGES)[number];

const [stage, nth] = (process.env.TENDON_FAULT ?? '').split(':');
let left = Number(nth ?? 0);
const [jumpStage, jumpNth, jumpMs] = (process.env.TENDON_JUMP ?? '').split(':');
let untilJump = Number(jumpNth ?? 0);
let offsetMs = Number(process.env.TENDON_CLOCK ?? 0);

function reach(reached: Stage): void {
  if (reached === jumpStage && --untilJump === 0) offsetMs = Number(jumpMs);
  if (reached === stage && --left === 0) process.kill(process.pid, 'SIGKILL');
}

/** The engine sees the real log; only the instant before and after an append is ours. */
function faultyLog(log: EventLog): EventLog {
  return {
    conversationId: log.conversationId,
    get nextId() {
      return log.nextId;
    },
    read: (range) => log.read(range),
    epochOf: (id) => log.epochOf(id),
    follow: (from, options) => log.follow(from, options),
    snapshot: () => log.snapshot(),
    storeSnapshot: (snapshot) => log.storeSnapshot(snapshot),
    async append(drafts, options) {
      reach('before-append');
      const events = await log.append(drafts, options);
      reach('after-append');
      return events;
    },
  };
}

function faultyRuntimes(runtimes: Runtimes): Runtimes {
  const wrapped = new WeakMap<Runtime, Runtime>();
  const wrap = (runtime: Runtime): Runtime => {
    const known = wrapped.get(runtime) ?? faultyRuntime(runtime);
    wrapped.set(runtime, known);
    return known;
  };
  return {
    acquire: async (id, options) => wrap(await runtimes.acquire(id, options)),
    current: (id) => {
      const runtime = runtimes.current(id);
      return runtime && wrap(runtime);
    },
    isWorkspaceEmpty: (id) => runtimes.isWorkspaceEmpty?.(id) ?? Promise.resolve(false),
    stop: (id, options) => runtimes.stop(id, options),
  };
}

function faultyRuntime(runtime: Runtime): Runtime {
  return {
    incarnation: runtime.incarnation,
    strength: runtime.strength,
    description: runtime.description,
    workspace: runtime.workspace,
    files: runtime.files,
    output: runtime.output,
    lost: runtime.lost,
    async execute(action, options) {
      reach('before-dispatch');
      const execution = runtime.execute(action, options);
      // The request is on its way when the event loop has turned; the command runs for longer than that.
      setImmediate(() => setImmediate(() => reach('after-dispatch')));
      const result = await execution;
      reach('before-answer');
      setImmediate(() => reach('after-answer'));
      return result;
    },
  };
}

if (import.meta.main) {
  const read = readConfig(process.env);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const clock = { ...systemClock, now: () => new Date(Date.now() + offsetMs) };
  await startServer(read.config, { clock, around: { log: faultyLog, runtimes: faultyRuntimes } });
  flushCompileCache(); // not at its end, which is a kill
}
