/**
 * Owns what happens when something is delivered to a trigger, by a webhook, a schedule or by hand: it is accepted once, carried out in the
 * background, and after a restart from where it was.
 */
import { randomUUID } from 'node:crypto';
import { KeyedMutex, KeyedSemaphore } from '@tendon/core';
import type { Logger } from '../platform/logger.ts';
import { payloadPrompt } from './delivery-prompt.ts';
import type { DeliveryStore, DeliveryTask, StoredDelivery } from './delivery-store.ts';
import { report, workOn, type DeliveryPorts } from './run-delivery.ts';
import { Schedules } from './schedules.ts';
import type { StoredTrigger, TriggerStore } from './trigger-store.ts';

/** Conversations of triggers that work at the same time; the others wait. One that a person has paused does not count. */
const MAX_AT_WORK = 8;
const HOUR_MS = 3_600_000;

interface NewDelivery {
  /** Decides whether it is one that came before. */
  readonly key: string;
  /** Shown to people. */
  readonly name: string;
  /** A text: it is ignored, for this reason. */
  readonly task: DeliveryTask | string;
}

export type Acceptance =
  | { readonly state: 'accepted'; readonly delivery: StoredDelivery; readonly isRepeated: boolean }
  | { readonly state: 'limited' }
  | { readonly state: 'gone' };

interface TriggersOptions extends DeliveryPorts {
  readonly store: TriggerStore;
  readonly logger: Logger;
}

export class Triggers {
  readonly store: TriggerStore;
  readonly deliveries: DeliveryStore;
  readonly schedules: Schedules;
  readonly #options: TriggersOptions;
  readonly #accepting = new KeyedMutex();
  readonly #places = new KeyedSemaphore(MAX_AT_WORK);
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: TriggersOptions) {
    const { store, clock, logger } = options;
    this.#options = options;
    this.store = store;
    this.deliveries = options.deliveries;
    this.schedules = new Schedules({ store, clock, logger, fire: (trigger, tick) => this.#tick(trigger, tick) });
  }

  /** Goes on with what an earlier server left, then fires what is due. */
  async start(): Promise<void> {
    for (const delivery of await this.deliveries.unfinished()) this.#run(delivery);
    this.schedules.start();
  }

  /** Durable when it resolves. */
  accept({ id }: StoredTrigger, { key, name, task }: NewDelivery): Promise<Acceptance> {
    return this.#accepting.run(id, async () => {
      const trigger = this.store.get(id);
      if (!trigger) return { state: 'gone' };
      const named = this.deliveries.idOf(id, key);
      const known = await this.deliveries.get(id, named);
      if (known) return { state: 'accepted', delivery: known, isRepeated: true };
      const isIgnored = typeof task === 'string';
      const now = this.#options.clock.now();
      if (!isIgnored) {
        const count = await this.deliveries.countSince(id, new Date(now.getTime() - HOUR_MS).toISOString());
        if (count >= trigger.max_per_hour) return { state: 'limited' };
      }
      const delivery = newDelivery({ trigger: id, id: named, name, received_at: now.toISOString() }, task);
      await this.deliveries.add(delivery);
      if (!isIgnored) this.#run(delivery);
      return { state: 'accepted', delivery, isRepeated: false };
    });
  }

  now(): string {
    return this.#options.clock.now().toISOString();
  }

  /** By a person; also one that is paused. */
  fire(trigger: StoredTrigger, text: string, key = `fired ${randomUUID()}`): Promise<Acceptance> {
    const isMention = trigger.mention !== null;
    const content = isMention
      ? text.trim() || 'Report in one sentence that this trigger works.'
      : payloadPrompt(trigger, trigger.kind, text);
    return this.accept(trigger, { key, name: 'fired by hand', task: plainTask(trigger, content) });
  }

  /** Its conversations stay. False: there is none. */
  delete(id: string): Promise<boolean> {
    return this.#accepting.run(id, async () => {
      const wasThere = await this.store.delete(id);
      await this.deliveries.forget(id);
      return wasThere;
    });
  }

  /** What is not at its end goes on with the next server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.schedules.close();
    await Promise.allSettled(this.#running);
  }

  async #tick(trigger: StoredTrigger, tick: Date): Promise<void> {
    const at = tick.toISOString();
    const task = plainTask(trigger, payloadPrompt(trigger, 'schedule', ''));
    const accepted = await this.accept(trigger, { key: `tick ${at}`, name: at, task });
    if (accepted.state !== 'limited') return;
    await this.accept(trigger, { key: `tick ${at}`, name: at, task: `it has fired ${trigger.max_per_hour} times in an hour` });
  }

  #run(delivery: StoredDelivery): void {
    const running: Promise<void> = this.#carryOut(delivery)
      .catch((cause: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#options.logger.error({ err: cause, trigger: delivery.trigger, delivery: delivery.id }, 'a delivery could not be carried out');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #carryOut(delivery: StoredDelivery): Promise<void> {
    const { signal } = this.#closing;
    const release = await this.#places.acquire('', signal);
    if (!release) return;
    const worked = await workOn(delivery, this.#options, { signal, onPause: release }).finally(release);
    if (worked) await report(worked, this.#options, signal);
  }
}

/** Of what has no repository, branch or place of its own. */
export function plainTask({ repository, branch, git_provider, post_to }: StoredTrigger, content: string): DeliveryTask {
  return { content, repository, branch, git_provider, post_to };
}

function newDelivery(given: Pick<StoredDelivery, 'trigger' | 'id' | 'name' | 'received_at'>, task: DeliveryTask | string): StoredDelivery {
  const isIgnored = typeof task === 'string';
  return {
    ...given,
    state: isIgnored ? 'ignored' : 'accepted',
    detail: isIgnored ? task : null,
    conversation_id: null,
    agent_state: null,
    comment_url: null,
    task: isIgnored ? null : task,
    result: null,
  };
}
