import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server under measurement: started by a command of its own, or running already. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** Foreground command, run by bash; undefined: it runs already. */
  readonly command?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Names the sandboxes that belong to it on their command lines. */
  readonly home?: string;
}

export interface RunningTarget {
  readonly pid: number;
  readonly startMs: number | undefined;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 180_000;

/** Starts the target and waits for its first 200 from `/alive`. */
export async function start(target: Target): Promise<RunningTarget> {
  const started = performance.now();
  const child = target.command
    ? spawn('bash', ['-c', `exec ${target.command}`], {
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore'],
        env: { ...process.env, ...target.env },
      })
    : undefined;
  await firstAnswer(target, child, started + START_DEADLINE_MS);
  const startMs = child && performance.now() - started;
  const pid = listenerOf(Number(new URL(target.url).port));
  return { pid, startMs, stop: () => stop(child, pid) };
}

async function firstAnswer(target: Target, child: ChildProcess | undefined, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    if (child && child.exitCode !== null) throw new Error(`${target.name}: its start command ended with ${child.exitCode}`);
    try {
      if ((await fetch(`${target.url}/alive`, { signal: AbortSignal.timeout(2000) })).ok) return;
    } catch {
      await sleep(2);
    }
  }
  throw new Error(`${target.name}: no answer from ${target.url}/alive`);
}

async function stop(child: ChildProcess | undefined, pid: number): Promise<void> {
  if (!child) return;
  process.kill(pid, 'SIGTERM');
  if (child.exitCode === null) await Promise.race([new Promise((resolve) => child.once('exit', resolve)), sleep(10_000)]);
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    // It ended by itself, as it should.
  }
}

/** The eldest process that listens on a TCP port of this machine. */
function listenerOf(port: number): number {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'latin1').split('\n')) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === '0A' && fields[1]?.endsWith(hex)) sockets.add(`socket:[${fields[9]}]`);
    }
  }
  const holds = (pid: number): boolean => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
    } catch {
      return false;
    }
  };
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b)
    .find(holds);
  if (pid === undefined) throw new Error(`nothing listens on port ${port}`);
  return pid;
}
