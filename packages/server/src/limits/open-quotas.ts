import type { Clock, RecordStore } from '@tendon/core';
import type { LimitsConfig } from '../platform/config/governance-config.ts';
import { LimitStore } from './limit-store.ts';
import { Quotas, type PartySandboxes } from './quotas.ts';
import { Running } from './running.ts';
import { SharedUsage } from './shared-usage.ts';
import { Spend } from './spend.ts';

export interface OpenedQuotas {
  readonly quotas: Quotas;
  /** Publishes this server's usage to the others from now on. */
  start(): void;
  close(): Promise<void>;
}

interface QuotaOptions {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly config: LimitsConfig;
  readonly sandboxes: PartySandboxes;
  /** Whether other servers work over the same storage. */
  readonly isShared: boolean;
}

export async function openQuotas({ records, clock, config, sandboxes, isShared }: QuotaOptions): Promise<OpenedQuotas> {
  const store = await LimitStore.open(records, config);
  const spend = new Spend(records, clock);
  const usage: SharedUsage = new SharedUsage(records, clock, () => quotas.own());
  const quotas: Quotas = new Quotas({ store, running: new Running(config), spend, usage, sandboxes });
  return {
    quotas,
    start: () => (isShared ? usage.start() : undefined),
    async close() {
      store.close();
      await usage.close();
      await spend.close();
    },
  };
}
