/**
 * Decides when schedules fire. Does not own what a trigger then does.
 *
 * SC1  A tick fires at most once: the key of its delivery contains its time, and the delivery is stored before the schedule advances.
 * SC2  After ticks were missed because no server ran, one of them fires.
 * SC3  Without schedules there is no timer.
 * SC4  One server fires a schedule, chosen by hashing its id. The others look again, in case that server has ended.
 */
import type { Clock } from '@tendon/core';
import { aborted } from '@tendon/protocol/async';
import type { Logger } from '../platform/logger.ts';
import { nextTick, parseCron } from './cron.ts';
import type { StoredTrigger, TriggerStore } from './trigger-store.ts';

/** Bounds how late a changed clock or a resumed machine is noticed. */
const MAX_WAIT_MS = 60_000;
/** How often this server checks whether a due tick of another one is its own by now. */
const LOOK_AGAIN_MS = 1_000;

interface SchedulesOptions {
  readonly store: TriggerStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether this server is the one that fires the trigger. */
  readonly isOurs: (trigger: StoredTrigger) => Promise<boolean>;
  /** Resolves when the delivery is durable. */
  readonly fire: (trigger: StoredTrigger, tick: Date) => Promise<void>;
}

export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #closing = new AbortController();
  #changed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Called when a schedule was added or changed. */
  changed(): void {
    this.#changed.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#changed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    while (!this.#closing.signal.aborted) {
      this.#changed = new AbortController();
      const signal = AbortSignal.any([this.#changed.signal, this.#closing.signal]);
      let soonest: number | undefined;
      try {
        soonest = await this.#fireDue();
      } catch (cause) {
        logger.error({ err: cause }, 'a schedule could not fire');
        soonest = Infinity;
      }
      if (signal.aborted) continue;
      if (soonest === undefined) await aborted(signal);
      else await clock.sleep(Math.min(Math.max(soonest, 1), MAX_WAIT_MS), { signal }).catch(() => undefined);
    }
  }

  /** Fires what is due. Resolves with the milliseconds until the next tick, or `undefined` when there is none. */
  async #fireDue(): Promise<number | undefined> {
    const { store, clock, fire, isOurs } = this.#options;
    let soonest: number | undefined;
    for (const trigger of store.list) {
      const now = clock.now();
      let tick = nextOf(trigger);
      const isDue = tick !== undefined && tick <= now && !this.#closing.signal.aborted;
      if (isDue && !(await isOurs(trigger))) {
        soonest = Math.min(soonest ?? Infinity, LOOK_AGAIN_MS);
        continue;
      }
      if (tick && isDue) {
        await fire(trigger, tick);
        const handled = await store.change(trigger.id, () => ({ handled_until: now.toISOString() }));
        tick = handled && nextOf(handled);
      }
      if (tick) soonest = Math.min(soonest ?? Infinity, tick.getTime() - now.getTime());
    }
    return soonest;
  }
}

/** The first tick that has not been handled; it may lie in the past. */
export function nextOf({ enabled, schedule, handled_until }: StoredTrigger): Date | undefined {
  const parsed = enabled && schedule ? parseCron(schedule.cron) : undefined;
  return parsed?.ok ? nextTick(parsed.cron, schedule!.time_zone, new Date(handled_until)) : undefined;
}
