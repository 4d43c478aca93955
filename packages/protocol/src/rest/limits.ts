import { z } from 'zod';

const count = z.number().int().min(0).max(1_000_000).nullable().optional();
const usd = z.number().min(0).max(1e9).nullable().optional();

/** What somebody may use; what is left out or `null` is as the more general limit has it. */
export const Limits = z.strictObject({
  /** Conversations at work at once. */
  running: count,
  /** Sandboxes at once. */
  sandboxes: count,
  /** US dollars for models in a day and a month of UTC. A million tokens of an unknown price count as a dollar. */
  usd_per_day: usd,
  usd_per_month: usd,
});
export type Limits = z.output<typeof Limits>;

/** `server`: all together. `each`: each user, and each key of no user, that has no limits of its own. */
export const LimitScope = z
  .string()
  .max(200)
  .regex(
    /^(?:server|each|owner|(?:organisation|user|key):[\w.@-]+)$/,
    'server, each, owner, organisation:ID, user:ID or key:ID is expected',
  );
export type LimitScope = z.output<typeof LimitScope>;

/** How much is used now; of several servers as they were up to a few seconds ago. */
export const LimitUse = z.object({ running: z.number(), sandboxes: z.number(), usd_today: z.number(), usd_this_month: z.number() });
export type LimitUse = z.output<typeof LimitUse>;

export const ScopedLimits = z.object({ scope: LimitScope, limits: Limits, used: LimitUse });
export type ScopedLimits = z.output<typeof ScopedLimits>;
export const LimitList = z.object({ limits: z.array(ScopedLimits) });
export type LimitList = z.output<typeof LimitList>;

/** Which limits of all together there are, and which of them are reached now. */
export const ServerLimits = z.object({ limited: z.array(Limits.keyof()), reached: z.array(Limits.keyof()) });
export type ServerLimits = z.output<typeof ServerLimits>;
/** Those that apply to the caller. Only who sees the limits of the server has its figures in the list. */
export const OwnLimits = LimitList.extend({ server: ServerLimits });
export type OwnLimits = z.output<typeof OwnLimits>;
