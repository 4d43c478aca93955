import { attemptThroughOutage, type Clock, type OutageWait } from '@tendon/core';
import type { Probe, SandboxDriver } from '@tendon/runtime';
import type { Config } from '../platform/config/config.ts';
import { loggerOfStart, type Logger } from '../platform/logger.ts';

interface AwayOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly onHostsAway?: () => void;
}

/** Nothing is waited for where nobody is to be called. */
export function waitOf({ logLevel }: Pick<Config, 'logLevel'>, { clock, logger, onHostsAway }: AwayOptions): OutageWait | undefined {
  if (!onHostsAway) return undefined;
  const onOutage = (sentence: string): void => {
    onHostsAway();
    (logger ?? loggerOfStart(logLevel)).warn(sentence);
  };
  return { clock, onOutage };
}

/** Probes the driver until its hosts are there: they may start after the server. Where waiting cannot help, the first probe counts. */
export async function probeWhenThere(driver: Pick<SandboxDriver, 'probe'>, wait: OutageWait): Promise<Probe> {
  const attempt = () => driver.probe();
  const outageOf = (probe: Probe) => (!probe.available && probe.isAway ? `The sandbox cannot be had: ${probe.reason}.` : undefined);
  const { result, gaveUp } = await attemptThroughOutage({ attempt, outageOf }, wait);
  return result.available || !gaveUp ? result : { ...result, reason: `${result.reason}. ${gaveUp}` };
}
