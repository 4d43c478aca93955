import type { Limits } from '@tendon/protocol';
import { z } from 'zod';
import { count, onOff } from './environment-values.ts';

/** What everybody may use. */
export interface LimitsConfig {
  /** Conversations of this server at work at once; unset: any number. */
  readonly maxRunning: number | undefined;
  /** Of those that wait for one of these places, the most of one user. */
  readonly maxWaiting: number;
  /** Of all together, over all servers. */
  readonly server: Limits;
  /** Of each user, and each key of no user. */
  readonly each: Limits;
}

/** What a company asks of a server: who did what, and what each may use. */
export interface GovernanceConfig {
  /** Whether security-relevant acts are written down. */
  readonly audits: boolean;
  readonly limits: LimitsConfig;
  /** After so many days without an event a conversation is deleted; unset: none is. */
  readonly retentionDays: number | undefined;
  /** Whom push services may write to; unset: the address of the server. */
  readonly pushContact: string | undefined;
}

const usd = z.coerce.number('US dollars are expected').min(0, 'no less than 0');

export const GovernanceEnvironment = z.object({
  TENDON_AUDIT: onOff.optional(),
  TENDON_MAX_RUNNING: count(1).optional(),
  TENDON_MAX_WAITING: count(1).default(20),
  TENDON_USD_PER_DAY: usd.optional(),
  TENDON_USD_PER_MONTH: usd.optional(),
  TENDON_USER_RUNNING: count(1).optional(),
  TENDON_USER_SANDBOXES: count(1).optional(),
  TENDON_USER_USD_PER_DAY: usd.optional(),
  TENDON_USER_USD_PER_MONTH: usd.optional(),
  TENDON_RETENTION_DAYS: count(1).optional(),
  TENDON_PUSH_CONTACT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, 'mailto: with an address, or an https:// address is expected')
    .optional(),
});

/** Where several people share a database, the audit log is on. */
export function governanceConfig(
  values: z.output<typeof GovernanceEnvironment>,
  { isShared }: { readonly isShared: boolean },
): GovernanceConfig {
  return {
    retentionDays: values.TENDON_RETENTION_DAYS,
    pushContact: values.TENDON_PUSH_CONTACT,
    audits: values.TENDON_AUDIT ?? isShared,
    limits: {
      maxRunning: values.TENDON_MAX_RUNNING,
      maxWaiting: values.TENDON_MAX_WAITING,
      server: { usd_per_day: values.TENDON_USD_PER_DAY, usd_per_month: values.TENDON_USD_PER_MONTH },
      each: {
        running: values.TENDON_USER_RUNNING,
        sandboxes: values.TENDON_USER_SANDBOXES,
        usd_per_day: values.TENDON_USER_USD_PER_DAY,
        usd_per_month: values.TENDON_USER_USD_PER_MONTH,
      },
    },
  };
}
