/**
 * Owns what was delivered to the triggers and what became of it: one record each, and a mark for each that is not at its end.
 *
 * DV1  A delivery is durable, with its mark, before its sender is answered: a restart finds it and goes on.
 * DV2  Of a trigger the newest `MAX_RUN` that ran and the newest `MAX_IGNORED` others are stored. An id that is stored never runs again.
 * DV3  An id follows from the trigger and the sender's name for the delivery, or from the time of a tick, so two servers on one store
 *      come to the same one.
 */
import { createHmac } from 'node:crypto';
import { KeyedMutex, type RecordStore } from '@tendon/core';
import type { CommentTarget, DeliveryInfo, DeliveryState } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';

/** What its conversation begins with, and where the result goes. */
export interface DeliveryTask {
  readonly content: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly git_provider: string | null;
  readonly post_to: CommentTarget | null;
}

export interface StoredDelivery extends DeliveryInfo {
  readonly trigger: string;
  /** Gone when nothing is left to do. */
  readonly task: DeliveryTask | null;
  /** What is posted. */
  readonly result: string | null;
}

const MAX_RUN = 1_000;
const MAX_IGNORED = 100;
const PRUNED_EVERY = 20;
const MARKS = 'unfinished_deliveries';
const ENDS: ReadonlySet<DeliveryState> = new Set(['done', 'ignored', 'failed']);

export class DeliveryStore {
  readonly #records: RecordStore;
  readonly #jwtSecret: Secret;
  readonly #writing = new KeyedMutex();
  readonly #added = new Map<string, number>();

  constructor(records: RecordStore, jwtSecret: Secret) {
    this.#records = records;
    this.#jwtSecret = jwtSecret;
  }

  /** 32 hexadecimal digits, which also name its conversation; nobody else can guess them. */
  idOf(trigger: string, name: string): string {
    const named = JSON.stringify(['delivery', trigger, name]);
    return createHmac('sha256', this.#jwtSecret.reveal()).update(named).digest('hex').slice(0, 32);
  }

  get(trigger: string, id: string): Promise<StoredDelivery | undefined> {
    return this.#records.get<StoredDelivery>(collectionOf(trigger), id);
  }

  /** Newest first. */
  async list(trigger: string, limit: number): Promise<readonly StoredDelivery[]> {
    return (await this.#records.list<StoredDelivery>(collectionOf(trigger), { limit })).map(({ value }) => value);
  }

  /** How many since then were not ignored. */
  async countSince(trigger: string, since: string): Promise<number> {
    const all = await this.list(trigger, MAX_RUN + MAX_IGNORED);
    return all.filter(({ state, received_at }) => state !== 'ignored' && received_at > since).length;
  }

  async add(delivery: StoredDelivery): Promise<void> {
    const { id, trigger, state } = delivery;
    const mark = !ENDS.has(state) && this.#records.put(MARKS, { id, sort: delivery.received_at, value: { trigger } });
    await Promise.all([mark, this.#put(delivery)]);
    const added = (this.#added.get(trigger) ?? 0) + 1;
    this.#added.set(trigger, added);
    if (added % PRUNED_EVERY === 0) await this.#prune(trigger);
  }

  /** As it is then; `undefined`: it was removed with its trigger. */
  change({ trigger, id }: StoredDelivery, change: Partial<StoredDelivery>): Promise<StoredDelivery | undefined> {
    return this.#writing.run(id, async () => {
      const stored = await this.get(trigger, id);
      if (!stored) return undefined;
      const next = { ...stored, ...change };
      const isOver = ENDS.has(next.state);
      await this.#put(isOver ? { ...next, task: null, result: null } : next);
      if (isOver) await this.#records.delete(MARKS, id);
      return next;
    });
  }

  /** Oldest first. */
  async unfinished(): Promise<readonly StoredDelivery[]> {
    const found: StoredDelivery[] = [];
    for (const { id, value } of (await this.#records.list<{ readonly trigger: string }>(MARKS)).toReversed()) {
      const delivery = await this.get(value.trigger, id);
      if (delivery && !ENDS.has(delivery.state)) found.push(delivery);
      else await this.#records.delete(MARKS, id);
    }
    return found;
  }

  /** With its trigger. */
  async forget(trigger: string): Promise<void> {
    for (const { id } of await this.#records.list(collectionOf(trigger))) {
      await this.#writing.run(id, async () => void (await this.#records.delete(collectionOf(trigger), id)));
    }
  }

  async #prune(trigger: string): Promise<void> {
    const all = await this.list(trigger, MAX_RUN + MAX_IGNORED + 2 * PRUNED_EVERY);
    const [ignored, run] = [
      all.filter(({ state }) => state === 'ignored'),
      all.filter(({ state }) => ENDS.has(state) && state !== 'ignored'),
    ];
    for (const { id } of [...ignored.slice(MAX_IGNORED), ...run.slice(MAX_RUN)]) await this.#records.delete(collectionOf(trigger), id);
  }

  #put(delivery: StoredDelivery): Promise<void> {
    const { id, received_at: sort, trigger } = delivery;
    return this.#records.put(collectionOf(trigger), { id, sort, value: delivery });
  }
}

function collectionOf(trigger: string): string {
  return `deliveries/${trigger}`;
}
