import { writeFileSync } from 'node:fs';
import { SUSPENDED_NAME, type SuspendAnswer } from '@tendon/protocol/executor-api';
import { descendants, nameOf, processText, type Descendant, signalProcess } from '../processes/process-tree.ts';
import type { PidNamespace } from '../processes/pid-namespace.ts';

/** Stops the processes that the agent started, in place, until somebody wants something of the sandbox. */
export interface Suspension {
  /** At once: nothing can come in between. What works is left alone; so is everything where `use` says what it is used for. */
  suspend(use: string | undefined): SuspendAnswer;
  /** Before anything is asked of what the agent started. Cheap when nothing is suspended. */
  resume(): void;
  isSuspended(): boolean;
}

/** What uses less of a processor than this only waits. */
const WORKING_SHARE = 0.02;
const TICK_MS = 10;
/** In less time, what works on a busy machine may not have had its turn. */
const LOOK_MS = 500;
/** What does not take notice of the signal by then waits for a device. */
const STOP_DEADLINE_MS = 1000;
const ROUND_MS = 1;

interface ProcessorLook {
  readonly at: number;
  readonly ticks: ReadonlyMap<number, number>;
  /** One that has, or waits for, a processor. */
  readonly running: number | undefined;
}

/**
 * SUS1  A process counts as working if it took processor time since the last look, when nothing was wanted in between, or waits for a
 *       processor now.
 * SUS2  A parent is stopped before its children and continued after them: a shell never sees a stopped child of its own.
 * SUS3  What the agent has stopped itself stays stopped.
 * SUS4  The executor and what holds the namespace keep running: it answers, and its lease ends it where no server is left.
 */
export function createSuspension(makingPidNamespace: Promise<Pick<PidNamespace, 'processes'>>): Suspension {
  let pidNamespace: Pick<PidNamespace, 'processes'> | undefined;
  void makingPidNamespace.then((made) => (pidNamespace = made));
  let before: ProcessorLook | undefined;
  let stopped: readonly number[] = [];
  const usualName = nameOf('self');

  const agents = (): readonly Descendant[] => descendants(new Set(pidNamespace?.processes()));

  /** The one that took the most processor time since the last look, if that was work. */
  function worker(last: ProcessorLook, now: ProcessorLook): number | undefined {
    const taken = [...now.ticks].map(([pid, ticks]) => ({ pid, ticks: ticks - (last.ticks.get(pid) ?? 0) }));
    const sum = taken.reduce((total, { ticks }) => total + Math.max(0, ticks), 0);
    if (sum < 2 || sum * TICK_MS < (now.at - last.at) * WORKING_SHARE) return undefined;
    return taken.toSorted((a, b) => b.ticks - a.ticks)[0]?.pid;
  }

  function stopAll(): boolean {
    const done = new Set<number>();
    for (const end = performance.now() + STOP_DEADLINE_MS; performance.now() < end; pause(ROUND_MS)) {
      const moving = agents().filter(({ state }) => state !== 'T' && state !== 't');
      stopped = [...done];
      if (moving.length === 0) return true;
      const outermost = Math.min(...moving.map(({ depth }) => depth));
      for (const { pid, depth } of moving) {
        if (depth > outermost || done.has(pid)) continue;
        signalProcess(pid, 'SIGSTOP');
        done.add(pid);
      }
    }
    stopped = [...done];
    resume();
    return false;
  }

  function resume(): void {
    before = undefined;
    if (stopped.length === 0) return;
    for (const pid of stopped.toReversed()) signalProcess(pid, 'SIGCONT');
    stopped = [];
    setName(usualName);
  }

  return {
    suspend(use) {
      if (pidNamespace === undefined) return { slept: false, reason: 'it has only just begun' };
      if (use !== undefined) return { slept: false, reason: use };
      if (stopped.length > 0) return { slept: true };
      const [last, now] = [before, lookAt(agents())];
      const isEarly = last !== undefined && now.at - last.at < LOOK_MS;
      if (!isEarly) before = now;
      const busy = now.running ?? (last && worker(last, now));
      if (busy !== undefined) return { slept: false, reason: `${processText(busy)} works` };
      if (last === undefined || isEarly) return { slept: false, reason: 'whether something works in it is being looked at' };
      if (!stopAll()) return { slept: false, reason: 'what runs in it could not be stopped' };
      setName(SUSPENDED_NAME);
      return { slept: true };
    },
    resume,
    isSuspended: () => stopped.length > 0,
  };
}

/** At once and without giving way: an action could come in between. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function lookAt(agents: readonly Descendant[]): ProcessorLook {
  const running = agents.find(({ state }) => state === 'R')?.pid;
  return { at: performance.now(), ticks: new Map(agents.map(({ pid, ticks }) => [pid, ticks])), running };
}

/** Where the host's process table shows it. */
function setName(name: string): void {
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // then nobody sees it
  }
}
