import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutorClient, HoldOptions } from './executor-client.ts';

export interface SandboxWatch {
  /** Resolves once with the reason; never rejects; never resolves after `stop`. */
  readonly lost: Promise<string>;
  /** The one that watches gave up on it for another reason. */
  report(reason: string): void;
  stop(): void;
}

/** After the connection closed: a dying process is gone within milliseconds, an idle connection is made anew without haste. */
const LOOK_AGAIN_MS = [2, 10, 50, 200, 1000] as const;
const LEASE_RENEWALS = 4;
const USUAL_SECONDS = 600;

export interface Watched {
  readonly isAlive: () => boolean;
  /** What is known of its end, as a clause; asked once, when it is found dead. */
  readonly whyEnded: () => string | undefined;
  /** Given: the lease is renewed for so long, again and again. */
  readonly leaseSeconds: number | undefined;
  /** What the host of a remote sandbox reports. */
  readonly onLine: HoldOptions['onLine'];
  /** Now and then. */
  readonly onChecked: () => void;
}

/**
 * Watches one executor without a busy loop: a connection that the kernel closes when the process dies says "look now", and
 * the process table gives the answer, or where there is none the other end itself. Renews the lease on the way, so that a sandbox without a server ends itself.
 */
export function watchSandbox(client: ExecutorClient, watched: Watched): SandboxWatch {
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
      const reason = await client.hold({ signal: stopped.signal, onLine: watched.onLine });
      if (stopped.signal.aborted) return;
      if (reason !== undefined) return report(reason);
      for (const waitMs of LOOK_AGAIN_MS) {
        if (!watched.isAlive()) return report(['the sandbox ended', watched.whyEnded()].filter(Boolean).join(': '));
        if (!(await pause(waitMs, stopped.signal))) return;
      }
    }
  }

  async function renew(): Promise<void> {
    const { leaseSeconds } = watched;
    do {
      if (leaseSeconds !== undefined) await client.lease(leaseSeconds).catch(() => {}); // a dead executor is the other loop's business
      watched.onChecked();
    } while (await pause(((leaseSeconds ?? USUAL_SECONDS) / LEASE_RENEWALS) * 1000, stopped.signal));
  }

  void watch();
  void renew();
  return { lost, report, stop };
}

function pause(ms: number, stop: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal: stop, ref: false }).catch(() => false);
}
