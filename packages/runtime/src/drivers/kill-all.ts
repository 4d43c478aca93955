import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, signalProcess, type ProcessIdentity } from './process-identity.ts';

/** SIGKILL to each; resolves when none of them lives. Rejects after `deadlineMs`: a process in an uninterruptible wait. */
export async function killAll(processes: readonly ProcessIdentity[], deadlineMs = 5000): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (const identity of processes) signalProcess(identity, 'SIGKILL');
  let waitMs = 1;
  for (let left = processes.filter(isAlive); left.length > 0; left = left.filter(isAlive)) {
    if (performance.now() > end) throw new Error(`process ${left[0]?.pid} does not end`);
    await delay(waitMs);
    waitMs = Math.min(waitMs * 2, 50);
  }
}
