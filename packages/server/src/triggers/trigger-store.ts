/**
 * Owns the triggers: one record for each. The secret of a webhook is sealed like the model's key.
 *
 * TS1  A secret leaves this store only as `Secret`; only the answer to its creation shows it.
 * TS2  Changes are serialized, also between servers, and durable before they take effect.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';
import type { CommentTarget, EventAuthor, TriggerKind, TriggerMention, TriggerSchedule } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import { Secret } from '@tendon/protocol/masking';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

/** What fires the trigger, and how often at most. */
interface TriggerCause {
  readonly kind: TriggerKind;
  readonly schedule: TriggerSchedule | null;
  readonly mention: TriggerMention | null;
  readonly max_per_hour: number;
}

/** What the conversations of the trigger begin with. */
interface TriggerWork {
  readonly prompt: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly git_provider: string | null;
  readonly agent: string | null;
}

/** On a server with users: the organisation of the trigger, and the user for whom its conversations run. */
export interface TriggerOwner {
  readonly organisation_id?: string;
  readonly created_by?: EventAuthor;
}

export interface StoredTrigger extends TriggerCause, TriggerWork, TriggerOwner {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly posts_result: boolean;
  readonly post_to: CommentTarget | null;
  readonly created_at: string;
  /** For a schedule: ticks up to this time have fired or never will. */
  readonly handled_until: string;
  readonly sealed: string | null;
}

export type NewTrigger = Omit<StoredTrigger, 'id' | 'created_at' | 'handled_until' | 'sealed' | 'enabled'>;

export const MAX_TRIGGERS = 100;

interface TriggerStoreOptions {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
  /** Called in the tick of each change. */
  readonly onChange: () => void;
}

export class TriggerStore {
  readonly #options: TriggerStoreOptions;
  readonly #stored = new Map<string, StoredTrigger>();
  readonly #secrets = new Map<string, Secret>();
  readonly #writing = new Mutex();
  #onOthers = (): void => undefined;

  private constructor(options: TriggerStoreOptions) {
    this.#options = options;
  }

  static async open(options: TriggerStoreOptions): Promise<TriggerStore> {
    const store = new TriggerStore(options);
    options.records.watch('triggers', () => store.#read().then(store.#onOthers));
    await store.#read();
    return store;
  }

  /** Registers a listener for changes by other servers. */
  listen(onOthers: () => void): void {
    this.#onOthers = onOthers;
  }

  /** Reads all triggers anew. */
  #read(): Promise<void> {
    return this.#writing.run(async () => {
      const stored = await this.#options.records.list<StoredTrigger>('triggers');
      this.#stored.clear();
      for (const { id, value } of stored) this.#stored.set(id, value);
      for (const id of this.#secrets.keys()) if (!this.#stored.has(id)) this.#secrets.delete(id);
      for (const { value } of stored) this.#unseal(value);
      this.#options.onChange();
    });
  }

  /** Newest first. */
  get list(): readonly StoredTrigger[] {
    return [...this.#stored.values()].toSorted((a, b) => (a.created_at > b.created_at ? -1 : 1));
  }

  /** Also those that another server made a moment ago. */
  async listNow(): Promise<readonly StoredTrigger[]> {
    await this.#read();
    return this.list;
  }

  get secrets(): readonly Secret[] {
    return [...this.#secrets.values()];
  }

  get(id: string): StoredTrigger | undefined {
    return this.#stored.get(id);
  }

  /** Like `get`, but also finds a trigger that another server made a moment ago. */
  async find(id: string): Promise<StoredTrigger | undefined> {
    return this.get(id) ?? this.#options.records.get<StoredTrigger>('triggers', id);
  }

  /** `undefined` for a schedule, and when the secret was sealed under another JWT secret. */
  secretOf(id: string): Secret | undefined {
    return this.#secrets.get(id);
  }

  /** `undefined` when its organisation has `MAX_TRIGGERS` already. */
  create(given: NewTrigger, secret: string | undefined): Promise<StoredTrigger | undefined> {
    return this.#writing.run(async () => {
      const theirs = this.list.filter(({ organisation_id }) => organisation_id === given.organisation_id);
      if (theirs.length >= MAX_TRIGGERS) return undefined;
      const { jwtSecret, clock } = this.#options;
      const now = clock.now().toISOString();
      const trigger: StoredTrigger = {
        ...given,
        id: randomBytes(8).toString('hex'),
        enabled: true,
        created_at: now,
        handled_until: now,
        sealed: secret === undefined ? null : seal(secret, jwtSecret),
      };
      await this.#options.records.put('triggers', { id: trigger.id, sort: trigger.created_at, value: trigger });
      this.#setStored(trigger);
      return trigger;
    });
  }

  /** Resolves with the changed trigger, or `undefined` when there is none. */
  change(id: string, change: (trigger: StoredTrigger) => Partial<StoredTrigger>): Promise<StoredTrigger | undefined> {
    return this.#writing.run(async () => {
      const next = await this.#options.records.update<StoredTrigger>('triggers', id, (now) => {
        return now && { sort: now.created_at, value: { ...now, ...change(now) } };
      });
      if (next) this.#setStored(next);
      return next;
    });
  }

  /** False when there is no such trigger. */
  delete(id: string): Promise<boolean> {
    return this.#writing.run(async () => {
      const wasThere = await this.#options.records.delete('triggers', id);
      this.#stored.delete(id);
      this.#secrets.delete(id);
      this.#options.onChange();
      return wasThere;
    });
  }

  #setStored(trigger: StoredTrigger): void {
    this.#stored.set(trigger.id, trigger);
    this.#unseal(trigger);
    this.#options.onChange();
  }

  #unseal({ id, sealed }: StoredTrigger): void {
    const text = sealed === null ? undefined : unseal(sealed, this.#options.jwtSecret);
    if (text !== undefined && !this.#secrets.has(id)) this.#secrets.set(id, new Secret(text));
  }
}
