/**
 * Owns the deliveries and their states: one record for each, and a mark for each that is unfinished.
 *
 * DV1  A delivery and its mark are durable before the sender gets an answer, so a restart finds and continues it.
 * DV2  For each trigger, the newest `MAX_RUN` deliveries that ran and the newest `MAX_IGNORED` ignored ones are stored. A delivery whose
 *      id is stored never runs again.
 * DV3  The id is computed from the trigger and the sender's key for the delivery, or the time of the tick, so that two servers on one
 *      store compute the same one.
 * DV4  A delivery is added once, and its state only advances, even when a server writes an outdated state.
 */
import { createHmac } from 'node:crypto';
import { KeyedMutex, type RecordStore } from '@tendon/core';
import type { CommentTarget, DeliveryInfo, DeliveryState } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';

/** The first message of the conversation, and where the result goes. */
export interface DeliveryTask {
  readonly content: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly git_provider: string | null;
  readonly post_to: CommentTarget | null;
}

export interface StoredDelivery extends DeliveryInfo {
  readonly trigger: string;
  /** `null` once nothing is left to do. */
  readonly task: DeliveryTask | null;
  /** The text to post. */
  readonly result: string | null;
}

const MAX_RUN = 1_000;
const MAX_IGNORED = 100;
const PRUNED_EVERY = 20;
const MARKS = 'unfinished_deliveries';
const ENDS: ReadonlySet<DeliveryState> = new Set(['done', 'ignored', 'failed']);
const STEPS: readonly DeliveryState[] = ['accepted', 'working', 'posting'];
/** How long a mark may exist without its delivery: the mark is stored first, perhaps by another server. */
const MARK_ALONE_MS = 600_000;

/** Identifies a delivery. */
export interface DeliveryRef {
  readonly trigger: string;
  readonly id: string;
}

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

  /** The number of deliveries since then that were not ignored. */
  async countSince(trigger: string, since: string): Promise<number> {
    const all = await this.list(trigger, MAX_RUN + MAX_IGNORED);
    return all.filter(({ state, received_at }) => state !== 'ignored' && received_at > since).length;
  }

  /** Resolves with the stored delivery, which may have advanced if it existed before. */
  async add(delivery: StoredDelivery): Promise<{ readonly delivery: StoredDelivery; readonly isNew: boolean }> {
    const { id, trigger, state, received_at: sort } = delivery;
    const mark = !ENDS.has(state) && this.#records.put(MARKS, { id, sort, value: { trigger } });
    let isNew = false;
    const putting = this.#records.update<StoredDelivery>(collectionOf(trigger), id, (now) => {
      isNew = now === undefined;
      return isNew ? { sort, value: delivery } : undefined;
    });
    const [stored = delivery] = await Promise.all([putting, mark]);
    const added = (this.#added.get(trigger) ?? 0) + 1;
    this.#added.set(trigger, added);
    if (added % PRUNED_EVERY === 0) await this.#prune(trigger);
    return { delivery: stored, isNew };
  }

  /** Resolves with the changed delivery, or `undefined` when it was removed with its trigger, has ended, or is further on. */
  change({ trigger, id }: DeliveryRef, change: Partial<StoredDelivery>): Promise<StoredDelivery | undefined> {
    return this.#writing.run(id, async () => {
      const stored = await this.#records.update<StoredDelivery>(collectionOf(trigger), id, (now) => {
        const next = now && { ...now, ...change };
        if (!now || !next || stepOf(next) < stepOf(now) || ENDS.has(now.state)) return undefined;
        return { sort: now.received_at, value: ENDS.has(next.state) ? { ...next, task: null, result: null } : next };
      });
      if (stored && ENDS.has(stored.state)) await this.#records.delete(MARKS, id);
      return stored;
    });
  }

  /** The marked deliveries, oldest first. */
  async unfinished(): Promise<readonly DeliveryRef[]> {
    const marks = await this.#records.list<{ readonly trigger: string }>(MARKS);
    return marks.toReversed().map(({ id, value }) => ({ trigger: value.trigger, id }));
  }

  /** The delivery, if it is unfinished. Removes the mark of one that has ended or was removed. `now` in milliseconds. */
  async open({ trigger, id }: DeliveryRef, now: number): Promise<StoredDelivery | undefined> {
    const delivery = await this.get(trigger, id);
    if (delivery && !ENDS.has(delivery.state)) return delivery;
    const mark = delivery ? undefined : (await this.#records.list(MARKS)).find((one) => one.id === id);
    if (delivery || (mark && now - Date.parse(mark.sort) > MARK_ALONE_MS)) await this.#records.delete(MARKS, id);
    return undefined;
  }

  /** Removes the deliveries of a trigger that is removed. */
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
}

function stepOf({ state }: Pick<StoredDelivery, 'state'>): number {
  return ENDS.has(state) ? STEPS.length : STEPS.indexOf(state);
}

function collectionOf(trigger: string): string {
  return `deliveries/${trigger}`;
}
