import { setTimeout as delay } from 'node:timers/promises';
import { identify, isAlive, signalProcess, type ProcessIdentity } from './process-identity.ts';

const DEADLINE_MS = 10_000;

/** SIGKILL to each; resolves when none of them lives. Rejects after a deadline: a process in an uninterruptible wait. */
export async function killAll(processes: readonly ProcessIdentity[]): Promise<void> {
  await killPids(async () => processes.filter(isAlive).map(({ pid }) => pid));
}

/** The same for whatever `find` finds, asked again until it finds nothing: what dies may have started more meanwhile. */
export async function killPids(find: () => Promise<readonly number[]>): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const found = (await find()).map((pid) => identify(pid)).filter((identity) => identity !== undefined);
    if (found.length === 0) return;
    if (performance.now() > end) throw new Error(`process ${found[0]?.pid} does not end`);
    for (const identity of found) signalProcess(identity, 'SIGKILL');
    await delay(waitMs);
  }
}
