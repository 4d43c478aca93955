import type { Clock } from '@tendon/core';
import { createMask } from '@tendon/protocol/masking';
import type { Probe, SandboxDriver } from '@tendon/runtime';
import type { Config } from '../platform/config/config.ts';
import { createLogger, type Logger } from '../platform/logger.ts';

/** Longer than a host needs to start again, or to have its image pulled. */
const WAIT_MINUTES = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

export interface WaitOptions {
  readonly clock: Clock;
  /** Called once, with the problem, when no executor host answers at first. */
  readonly onAway: (sentence: string) => void;
}

interface AwayOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly onHostsAway?: () => void;
}

/** Nothing is waited for where nobody is to be called. */
export function waitOf({ logLevel }: Pick<Config, 'logLevel'>, { clock, logger, onHostsAway }: AwayOptions): WaitOptions | undefined {
  if (!onHostsAway) return undefined;
  const onAway = (sentence: string): void => {
    onHostsAway();
    // Secrets are in stores that are not open yet, and none is in this line.
    (logger ?? createLogger({ level: logLevel, mask: createMask([]) })).warn(sentence);
  };
  return { clock, onAway };
}

/** Probes the driver until its hosts are there: they may start after the server. Where waiting cannot help, the first probe counts. */
export async function probeWhenThere(driver: Pick<SandboxDriver, 'probe'>, { clock, onAway }: WaitOptions): Promise<Probe> {
  const end = clock.now().getTime() + WAIT_MINUTES * 60_000;
  const { signal } = new AbortController();
  for (let pauseMs = 0; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS)) {
    if (pauseMs > 0) await clock.sleep(pauseMs, { signal });
    const probe = await driver.probe();
    if (probe.available || !probe.isAway) return probe;
    if (clock.now().getTime() >= end) return { ...probe, reason: `${probe.reason}. The server waited ${WAIT_MINUTES} minutes for it` };
    if (pauseMs === 0) onAway(`The sandbox cannot be had: ${probe.reason}. The server waits for it, ${WAIT_MINUTES} minutes at most.`);
  }
}
