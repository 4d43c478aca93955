/**
 * Owns the tokens of one kind: a bearer of one comes in. One record each, in memory and in the store, never the token itself.
 *
 * TO1  A token is 256 random bits, shown once and stored as a salted SHA-256, which is compared in constant time. Nobody can search
 *      that many bits, so a slow hash would only make every request slow.
 * TO2  From the tick on that one is revoked or over it opens nothing, and its bearers are notified.
 * TO3  A token is durable before it is shown, and a revocation before it is answered.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';

export interface IssuedToken<T> {
  readonly id: string;
  readonly value: T;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

interface StoredToken<T> extends IssuedToken<T> {
  readonly salt: string;
  readonly hash: string;
}

export interface TokenStoreOptions<T> {
  readonly records: RecordStore;
  readonly collection: string;
  /** What its tokens begin with, so that people and scanners know one when they see it. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly max: number;
  /** How many one user may have of them; default: all. */
  readonly each?: TokensOfEach<T>;
}

interface TokensOfEach<T> {
  readonly max: number;
  /** `undefined`: it is no user's. */
  readonly userOf: (value: T) => string | undefined;
  /** With one more than that their oldest ends; default: it is refused. */
  readonly replacesOldest?: boolean;
}

const NOTE_USE_MS = 60_000;
/** Timers go no further than 2³¹ ms. */
const MAX_WAIT_MS = 86_400_000;

export class TokenStore<T> {
  readonly #options: TokenStoreOptions<T>;
  readonly #held: Map<string, StoredToken<T>>;
  readonly #watching = new Map<string, Set<AbortController>>();
  readonly #reading = new Mutex();
  /** How many changes of a token are under way here, and which were since the last reading began. */
  readonly #changing = new Map<string, number>();
  #changed = new Set<string>();

  private constructor(options: TokenStoreOptions<T>, held: Map<string, StoredToken<T>>) {
    this.#options = options;
    this.#held = held;
  }

  static async open<T>(options: TokenStoreOptions<T>): Promise<TokenStore<T>> {
    const store = new TokenStore<T>(options, new Map());
    options.records.watch(options.collection, () => store.#read());
    await store.#read();
    return store;
  }

  /** As stored now: other servers issue and revoke too. */
  async #read(): Promise<void> {
    await this.#reading.run(async () => {
      const { records, collection } = this.#options;
      this.#changed = new Set(this.#changing.keys());
      const stored = new Map((await records.list<StoredToken<T>>(collection)).map(({ id, value }) => [id, value]));
      for (const id of [...this.#held.keys()]) if (!stored.has(id) && !this.#changed.has(id)) this.#forget(id);
      for (const [id, value] of stored) if (!this.#changed.has(id)) this.#held.set(id, value);
    });
  }

  /** What is read meanwhile says nothing of this token. */
  async #change<R>(id: string, write: () => Promise<R>): Promise<R> {
    this.#changed.add(id);
    this.#changing.set(id, (this.#changing.get(id) ?? 0) + 1);
    try {
      return await write();
    } finally {
      const left = this.#changing.get(id)! - 1;
      if (left > 0) this.#changing.set(id, left);
      else this.#changing.delete(id);
    }
  }

  #forget(id: string): boolean {
    const wasThere = this.#held.delete(id);
    for (const watcher of this.#watching.get(id) ?? []) watcher.abort();
    return wasThere;
  }

  /** Those that are not over, newest first. */
  get list(): readonly IssuedToken<T>[] {
    return [...this.#held.values()].filter((one) => !this.#isOver(one)).toSorted((a, b) => (a.created_at > b.created_at ? -1 : 1));
  }

  /** `undefined`: there are as many as there may be, of all or of this user. */
  async issue(value: T, seconds: number | undefined): Promise<{ readonly token: string; readonly held: IssuedToken<T> } | undefined> {
    for (const one of [...this.#held.values()].filter((each) => this.#isOver(each))) await this.revoke(one.id);
    const place = this.#placeFor(value);
    if (!place) return undefined;
    const secret = randomBytes(32).toString('base64url');
    const salt = randomBytes(16).toString('base64url');
    const stored: StoredToken<T> = {
      id: randomBytes(8).toString('hex'),
      value,
      created_at: this.#options.clock.now().toISOString(),
      expires_at: seconds === undefined ? null : this.#after(seconds),
      last_used_at: null,
      salt,
      hash: hashOf(secret, salt).toString('base64url'),
    };
    this.#held.set(stored.id, stored);
    const { records, collection } = this.#options;
    await this.#change(stored.id, () => records.put(collection, { id: stored.id, sort: stored.created_at, value: stored }));
    if (place.oldest) await this.revoke(place.oldest.id);
    return { token: `${this.#options.prefix}_${stored.id}_${secret}`, held: stored };
  }

  /** `oldest`: in the place of that one. */
  #placeFor(value: T): { readonly oldest?: IssuedToken<T> } | undefined {
    const { max, each } = this.#options;
    const user = each?.userOf(value);
    const theirs = user === undefined ? [] : [...this.#held.values()].filter((one) => each?.userOf(one.value) === user);
    if (each && theirs.length >= each.max)
      return each.replacesOldest ? { oldest: theirs.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))[0]! } : undefined;
    return this.#held.size < max ? {} : undefined;
  }

  /** What the token opens, now. */
  find(token: string): IssuedToken<T> | undefined {
    const match = /^([a-z]+)_([0-9a-f]{16})_([\w-]{43})$/.exec(token);
    const stored = match?.[1] === this.#options.prefix ? this.#held.get(match[2]!) : undefined;
    if (!stored || !timingSafeEqual(Buffer.from(stored.hash, 'base64url'), hashOf(match![3]!, stored.salt))) return undefined;
    return this.get(stored.id);
  }

  get(id: string): IssuedToken<T> | undefined {
    const stored = this.#held.get(id);
    return stored && !this.#isOver(stored) ? stored : undefined;
  }

  /** Notes that it was used, to the minute; with `seconds` it lasts that long from now on. */
  async use(id: string, seconds?: number): Promise<void> {
    const stored = this.#held.get(id);
    const now = this.#options.clock.now();
    if (!stored) return;
    if (seconds === undefined && stored.last_used_at !== null && now.getTime() - Date.parse(stored.last_used_at) < NOTE_USE_MS) return;
    await this.#replace({ ...stored, last_used_at: now.toISOString(), ...(seconds !== undefined && { expires_at: this.#after(seconds) }) });
  }

  /** False: there is none. */
  async revoke(id: string): Promise<boolean> {
    const wasThere = this.#forget(id);
    return (await this.#change(id, () => this.#options.records.delete(this.#options.collection, id))) || wasThere;
  }

  /** At once, and then those that another server issued a moment ago. */
  async revokeThose(isMeant: (value: T) => boolean): Promise<void> {
    const revoke = () => Promise.all([...this.#held.values()].filter(({ value }) => isMeant(value)).map(({ id }) => this.revoke(id)));
    await revoke();
    await this.#read();
    await revoke();
  }

  /** Resolves when it is revoked or over, or `signal` aborts. */
  async ended(id: string, signal: AbortSignal): Promise<void> {
    const revoked = new AbortController();
    const watchers = this.#watching.get(id) ?? new Set();
    this.#watching.set(id, watchers.add(revoked));
    const waiting = AbortSignal.any([signal, revoked.signal]);
    try {
      for (let held = this.get(id); held && !waiting.aborted; held = this.get(id)) {
        const left = held.expires_at === null ? MAX_WAIT_MS : Date.parse(held.expires_at) - this.#options.clock.now().getTime();
        await this.#options.clock.sleep(Math.min(Math.max(left, 1), MAX_WAIT_MS), { signal: waiting });
      }
    } catch {
      // One of the two signals: nothing is left to wait for.
    } finally {
      watchers.delete(revoked);
      if (watchers.size === 0) this.#watching.delete(id);
    }
  }

  #isOver({ expires_at }: IssuedToken<T>): boolean {
    return expires_at !== null && Date.parse(expires_at) <= this.#options.clock.now().getTime();
  }

  #after(seconds: number): string {
    return new Date(this.#options.clock.now().getTime() + seconds * 1000).toISOString();
  }

  /** In memory first: of two changes at once the later one is stored later. One that was revoked, here or by another server, stays so. */
  async #replace(stored: StoredToken<T>): Promise<void> {
    this.#held.set(stored.id, stored);
    const { records, collection } = this.#options;
    const changed = { sort: stored.created_at, value: stored };
    const now = await this.#change(stored.id, () => records.update<StoredToken<T>>(collection, stored.id, (one) => one && changed));
    if (!now) this.#forget(stored.id);
  }
}

function hashOf(secret: string, salt: string): Buffer {
  return createHash('sha256').update(salt).update(secret).digest();
}
