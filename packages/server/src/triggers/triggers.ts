/**
 * Accepts deliveries to triggers, from a webhook, a schedule or a person, and carries each out once, in the background. After a restart a
 * delivery continues where it was.
 *
 * TRI1  One server works on a delivery: the owner of its conversation, which has the same id as the delivery.
 * TRI2  Deliveries that a stopped or killed server leaves are continued by another: each server looks for them every `LOOK_MS`.
 */
import { randomUUID } from 'node:crypto';
import { KeyedMutex, KeyedSemaphore, StorageError, type Storage } from '@tendon/core';
import { partyOf } from '../limits/party.ts';
import type { Logger } from '../platform/logger.ts';
import { nearestServer, triggerName } from '../platform/nearest-server.ts';
import { payloadPrompt } from './delivery-prompt.ts';
import type { DeliveryRef, DeliveryStore, DeliveryTask, StoredDelivery } from './delivery-store.ts';
import { report, workOn, type DeliveryPorts } from './run-delivery.ts';
import { Schedules } from './schedules.ts';
import type { StoredTrigger, TriggerStore } from './trigger-store.ts';

/** How many conversations of triggers work at the same time; the others wait, and organisations take turns. A paused one does not count. */
const MAX_AT_WORK = 8;
const HOUR_MS = 3_600_000;
const LOOK_MS = 2_000;

interface NewDelivery {
  /** Two deliveries with the same key are the same delivery. */
  readonly key: string;
  /** Shown to people. */
  readonly name: string;
  /** The task, or the reason why the delivery is ignored. */
  readonly task: DeliveryTask | string;
}

export type Acceptance =
  | { readonly state: 'accepted'; readonly delivery: StoredDelivery; readonly isRepeated: boolean }
  | { readonly state: 'limited' }
  | { readonly state: 'gone' };

interface TriggersOptions extends DeliveryPorts {
  readonly store: TriggerStore;
  readonly storage: Pick<Storage, 'events' | 'scheduler'>;
  readonly logger: Logger;
}

export class Triggers {
  readonly store: TriggerStore;
  readonly deliveries: DeliveryStore;
  readonly schedules: Schedules;
  readonly #options: TriggersOptions;
  readonly #accepting = new KeyedMutex();
  readonly #places = new KeyedSemaphore(MAX_AT_WORK);
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(options: TriggersOptions) {
    const { store, clock, logger } = options;
    this.#options = options;
    this.store = store;
    this.deliveries = options.deliveries;
    const isOurs = (trigger: StoredTrigger): Promise<boolean> => this.#isNearest(trigger);
    this.schedules = new Schedules({ store, clock, logger, isOurs, fire: (trigger, tick) => this.#tick(trigger, tick) });
    store.listen(() => this.schedules.changed());
  }

  /** Continues unfinished deliveries, then fires the schedules that are due. */
  async start(): Promise<void> {
    await this.#takeLeft();
    this.schedules.start();
    if (this.#options.storage.scheduler.self) this.#looking ??= this.#lookOn();
  }

  async #isNearest({ id }: StoredTrigger): Promise<boolean> {
    const { scheduler } = this.#options.storage;
    const { self } = scheduler;
    return self === undefined || nearestServer(triggerName(id), await scheduler.servers())?.id === self.id;
  }

  /** Continues the unfinished deliveries that no other server has. */
  async #takeLeft(): Promise<void> {
    const { scheduler } = this.#options.storage;
    if (scheduler.self?.takesConversations === false) return;
    const left = (await this.deliveries.unfinished()).filter(({ id }) => !this.#running.has(id));
    const places = left.length > 0 ? await scheduler.findAll(left.map(({ id }) => id)) : undefined;
    for (const one of left) if (places?.get(one.id)?.at !== 'peer') this.#run(one);
  }

  async #lookOn(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#takeLeft().catch((cause: unknown) => logger.debug({ err: cause }, 'deliveries could not be listed'));
    }
  }

  /** The delivery is durable when this resolves. */
  accept({ id }: StoredTrigger, { key, name, task }: NewDelivery): Promise<Acceptance> {
    return this.#accepting.run(id, async () => {
      const trigger = await this.store.find(id);
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
      const { delivery: stored, isNew } = await this.deliveries.add(delivery);
      if (!isIgnored) this.#run(delivery);
      return { state: 'accepted', delivery: stored, isRepeated: !isNew };
    });
  }

  now(): string {
    return this.#options.clock.now().toISOString();
  }

  /** Fires a trigger by hand, even a paused one. */
  fire(trigger: StoredTrigger, text: string, key = `fired ${randomUUID()}`): Promise<Acceptance> {
    const isMention = trigger.mention !== null;
    const content = isMention
      ? text.trim() || 'Report in one sentence that this trigger works.'
      : payloadPrompt(trigger, trigger.kind, text);
    return this.accept(trigger, { key, name: 'fired by hand', task: plainTask(trigger, content) });
  }

  /** Its conversations stay. False when there is no such trigger. */
  delete(id: string): Promise<boolean> {
    return this.#accepting.run(id, async () => {
      const wasThere = await this.store.delete(id);
      await this.deliveries.forget(id);
      return wasThere;
    });
  }

  /** Unfinished deliveries continue on the next server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.schedules.close();
    await this.#looking;
    await Promise.allSettled(this.#running.values());
  }

  async #tick(trigger: StoredTrigger, tick: Date): Promise<void> {
    const at = tick.toISOString();
    const task = plainTask(trigger, payloadPrompt(trigger, 'schedule', ''));
    const accepted = await this.accept(trigger, { key: `tick ${at}`, name: at, task });
    if (accepted.state !== 'limited') return;
    await this.accept(trigger, { key: `tick ${at}`, name: at, task: `it has fired ${trigger.max_per_hour} times in an hour` });
  }

  #run(delivery: DeliveryRef): void {
    const { id, trigger } = delivery;
    if (this.#running.has(id)) return;
    const running = this.#carryOut(delivery)
      .catch((cause: unknown) => {
        const isTaken = cause instanceof StorageError && cause.code === 'fenced'; // another server goes on with it
        if (this.#closing.signal.aborted || isTaken) return;
        this.#options.logger.error({ err: cause, trigger, delivery: id }, 'a delivery could not be carried out');
      })
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  async #carryOut(delivery: DeliveryRef): Promise<void> {
    const { signal } = this.#closing;
    const release = await this.#places.acquire('', signal, turnOf(await this.store.find(delivery.trigger)));
    if (!release) return;
    const work = async () => {
      const taken = await this.#taken(delivery);
      return taken && workOn(taken, this.#options, { signal, onPause: release });
    };
    const worked = await work().finally(release);
    if (worked) await report(worked, this.#options, signal);
    if (worked?.state === 'failed') await this.#giveUp(delivery);
  }

  /** Claims the delivery's conversation and reads the delivery; `undefined` when it has ended, or another server has it. */
  async #taken(delivery: DeliveryRef): Promise<StoredDelivery | undefined> {
    const { clock, storage } = this.#options;
    const { id } = delivery;
    const isOpen = () => this.deliveries.open(delivery, clock.now().getTime());
    if (!(await isOpen()) || (await storage.scheduler.claim({ id, rootId: id })).at !== 'here') return undefined;
    return isOpen();
  }

  /** Removes the empty log of a delivery that failed before it had a conversation. */
  async #giveUp({ id }: DeliveryRef): Promise<void> {
    const { conversations, storage } = this.#options;
    if (storage.scheduler.self && !(await conversations.get(id))) await storage.events.delete(id);
  }
}

/** Whose turn it is when a place is free: the organisation's, or without one that of who made the trigger. */
function turnOf(trigger: StoredTrigger | undefined): string {
  const { name, organisation } = partyOf(trigger ?? {});
  return organisation === undefined ? name : `organisation:${organisation}`;
}

/** A task with the trigger's own repository, branch and place for the result. */
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
