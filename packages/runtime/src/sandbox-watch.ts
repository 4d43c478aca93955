import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutorClient } from './executor-client.ts';

export interface SandboxWatch {
  /** Resolves once with the reason; never rejects; never resolves after `stop`. */
  readonly lost: Promise<string>;
  /** The one that watches gave up on it for another reason. */
  report(reason: string): void;
  stop(): void;
}

const RETRY_MS = 1000;
const LEASE_RENEWALS = 4;

/**
 * Watches one executor without a busy loop: a connection that the kernel closes when the process dies says "look now", and
 * the process table gives the answer. Renews the lease on the way, so that a sandbox without a server ends itself.
 */
export function watchSandbox(client: ExecutorClient, isAlive: () => boolean, leaseSeconds: number): SandboxWatch {
  const stopped = new AbortController();
  const { promise: lost, resolve } = Promise.withResolvers<string>();
  const report = (reason: string): void => {
    if (stopped.signal.aborted) return;
    resolve(reason);
    stop();
  };
  const stop = (): void => stopped.abort();

  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      await connectionEnd(client, stopped.signal);
      if (stopped.signal.aborted) return;
      if (!isAlive()) return report('the sandbox ended');
      await pause(RETRY_MS, stopped.signal); // closed for being idle, or dying just now
    }
  }

  async function renew(): Promise<void> {
    do {
      await client.lease(leaseSeconds).catch(() => {}); // a dead executor is the other loop's business
    } while (await pause((leaseSeconds / LEASE_RENEWALS) * 1000, stopped.signal));
  }

  void watch();
  void renew();
  return { lost, report, stop };
}

function connectionEnd(client: ExecutorClient, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = client.hold().unref();
    const end = (): void => void socket.destroy();
    stop.addEventListener('abort', end, { once: true });
    socket.on('error', () => {});
    socket.resume();
    socket.once('close', () => {
      stop.removeEventListener('abort', end);
      resolve();
    });
  });
}

function pause(ms: number, stop: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal: stop, ref: false }).catch(() => false);
}
