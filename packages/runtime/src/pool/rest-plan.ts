/** When sandboxes sleep and end, and how many are awake. */
export interface RestPlan {
  /** Without use for so long, a sandbox sleeps; one with a kernel after `KERNEL_PATIENCE` times as long. */
  readonly idleMs: number;
  /** Whatever it does, it ends after so long. */
  readonly maxMs: number;
  /** So many are awake at most. */
  readonly maxLive: number;
}

export const DEFAULT_REST: RestPlan = { idleMs: 900_000, maxMs: Infinity, maxLive: 32 };

/** A kernel's variables cannot be kept: it is given longer. */
const KERNEL_PATIENCE = 4;
/** What could not sleep is not asked again for so long. */
const ASK_AGAIN_MS = 60_000;
/** When there is no room, one that was used just now is still spared: its next action may be on the way. */
const SPARED_MS = 1000;

/** What is looked at of each sandbox that is awake. */
export interface Awake {
  readonly idleMs: number;
  /** Since it was last asked to sleep in vain. */
  readonly refusedMsAgo: number;
}

/** Whether it should sleep now; `withKernel`: even if it has one. */
export function shouldSleep({ idleMs, refusedMsAgo }: Awake, plan: RestPlan): false | { readonly withKernel: boolean } {
  if (idleMs < plan.idleMs || refusedMsAgo < Math.min(ASK_AGAIN_MS, plan.idleMs)) return false;
  return { withKernel: idleMs >= plan.idleMs * KERNEL_PATIENCE };
}

/** Who makes room, the least recently used first. */
export function makingRoom<T extends Awake>(all: readonly T[]): readonly T[] {
  return all.filter(({ idleMs }) => idleMs >= SPARED_MS).toSorted((a, b) => b.idleMs - a.idleMs);
}

/** How often is looked. */
export function lookEveryMs({ idleMs, maxMs }: RestPlan): number {
  return Math.max(50, Math.min(30_000, idleMs / 4, maxMs / 20));
}
