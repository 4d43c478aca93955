/**
 * Owns the triggers: one record each, the secret of its webhook sealed like the model's key.
 *
 * TS1  A secret leaves only as `Secret`; no answer but that of its creation holds it.
 * TS2  Changes come one after the other, those of other servers too, and are durable before they count.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';
import type { CommentTarget, EventAuthor, TriggerKind, TriggerMention, TriggerSchedule } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import { Secret } from '@tendon/protocol/masking';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

/** What fires it, and how often at most. */
interface TriggerCause {
  readonly kind: TriggerKind;
  readonly schedule: TriggerSchedule | null;
  readonly mention: TriggerMention | null;
  readonly max_per_hour: number;
}

/** What its conversations begin with. */
interface TriggerWork {
  readonly prompt: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly git_provider: string | null;
  readonly agent: string | null;
}

/** Whose it is, where the server has users: of its organisation, and for whom its conversations are. */
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
  /** Of a schedule: ticks up to then have fired, or never will. */
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

  /** Called when another server has changed some. */
  listen(onOthers: () => void): void {
    this.#onOthers = onOthers;
  }

  /** As stored now. */
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

  /** Also one that another server made a moment ago. */
  async find(id: string): Promise<StoredTrigger | undefined> {
    return this.get(id) ?? this.#options.records.get<StoredTrigger>('triggers', id);
  }

  /** `undefined` of a schedule, and of one that was sealed under a JWT secret that is gone. */
  secretOf(id: string): Secret | undefined {
    return this.#secrets.get(id);
  }

  /** `undefined`: there are as many as there may be. */
  create(given: NewTrigger, secret: string | undefined): Promise<StoredTrigger | undefined> {
    return this.#writing.run(async () => {
      if (this.#stored.size >= MAX_TRIGGERS) return undefined;
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
      this.#took(trigger);
      return trigger;
    });
  }

  /** The trigger as it is then; `undefined`: there is none. */
  change(id: string, change: (trigger: StoredTrigger) => Partial<StoredTrigger>): Promise<StoredTrigger | undefined> {
    return this.#writing.run(async () => {
      const next = await this.#options.records.update<StoredTrigger>('triggers', id, (now) => {
        return now && { sort: now.created_at, value: { ...now, ...change(now) } };
      });
      if (next) this.#took(next);
      return next;
    });
  }

  /** False: there is none. */
  delete(id: string): Promise<boolean> {
    return this.#writing.run(async () => {
      const wasThere = await this.#options.records.delete('triggers', id);
      this.#stored.delete(id);
      this.#secrets.delete(id);
      this.#options.onChange();
      return wasThere;
    });
  }

  #took(trigger: StoredTrigger): void {
    this.#stored.set(trigger.id, trigger);
    this.#unseal(trigger);
    this.#options.onChange();
  }

  #unseal({ id, sealed }: StoredTrigger): void {
    const text = sealed === null ? undefined : unseal(sealed, this.#options.jwtSecret);
    if (text !== undefined && !this.#secrets.has(id)) this.#secrets.set(id, new Secret(text));
  }
}
