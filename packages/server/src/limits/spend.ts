/**
 * Owns what models cost each scope on all servers, by UTC day and month. Does not own the limits.
 *
 * SPE1  A cost counts here at once, and on the other servers within `BEHIND_MS`; a killed server loses the costs of that time.
 */
import type { Clock, RecordStore } from '@tendon/core';

const SPEND = 'spend';
const BEHIND_MS = 1_000;

interface Amount {
  /** The highest stored amount that this server has read. */
  readonly stored: number;
  /** What this server has not written yet. */
  readonly pending: number;
}

export type Period = 'day' | 'month';

export class Spend {
  readonly #records: Pick<RecordStore, 'get' | 'update'>;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** By scope and period. */
  readonly #amounts = new Map<string, Amount>();
  #writing: Promise<void> | undefined;

  constructor(records: Pick<RecordStore, 'get' | 'update'>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  add(scopes: readonly string[], usd: number): void {
    if (!(usd > 0)) return;
    for (const id of this.#idsOf(scopes)) {
      const { stored, pending } = this.#amounts.get(id) ?? { stored: 0, pending: 0 };
      this.#amounts.set(id, { stored, pending: pending + usd });
    }
    this.#writing ??= this.#writeBehind();
  }

  /** As far as this server knows. */
  of(scope: string, period: Period): number {
    const { stored, pending } = this.#amounts.get(this.#idOf(scope, period)) ?? { stored: 0, pending: 0 };
    return stored + pending;
  }

  /** Reads what other servers have added. Rejects with the storage's error. */
  async refresh(scopes: readonly string[]): Promise<void> {
    const ids = this.#idsOf(scopes);
    const read = await Promise.all(ids.map((id) => this.#records.get<number>(SPEND, id)));
    for (const [at, id] of ids.entries()) this.#update(id, read[at] ?? 0);
  }

  /** Milliseconds since 1970, when this period ends. */
  endOf(period: Period): number {
    const now = this.#clock.now();
    const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
    return period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  }

  /** From now. */
  secondsTo(end: number): number {
    return Math.max(1, Math.ceil((end - this.#clock.now().getTime()) / 1000));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.#writeAll();
  }

  async #writeBehind(): Promise<void> {
    const { signal } = this.#closing;
    await this.#clock.sleep(BEHIND_MS, { signal }).catch(() => undefined);
    await this.#writeAll();
    // What came meanwhile, and what could not be stored.
    const isMore = !signal.aborted && [...this.#amounts.values()].some(({ pending }) => pending > 0);
    this.#writing = isMore ? this.#writeBehind() : undefined;
  }

  /** Never twice at the same time: what is being written is still pending. Never rejects. */
  async #writeAll(): Promise<void> {
    for (const [id, { pending }] of this.#amounts) {
      if (pending > 0) await this.#write(id, pending).catch(() => undefined); // the next write includes it
      else if (!this.#isCurrent(id)) this.#amounts.delete(id);
    }
  }

  async #write(id: string, usd: number): Promise<void> {
    const stored = await this.#records.update<number>(SPEND, id, (now = 0) => ({
      sort: id.slice(id.lastIndexOf(' ') + 1),
      value: now + usd,
    }));
    this.#update(id, stored ?? 0, usd);
  }

  /** Stored amounts only grow, so a read that ends after a later write or read is outdated. */
  #update(id: string, read: number, written = 0): void {
    const { stored, pending } = this.#amounts.get(id) ?? { stored: 0, pending: 0 };
    this.#amounts.set(id, { stored: Math.max(stored, read), pending: pending - written });
  }

  #isCurrent(id: string): boolean {
    return [this.#suffix('day'), this.#suffix('month')].some((suffix) => id.endsWith(suffix));
  }

  #idsOf(scopes: readonly string[]): readonly string[] {
    return scopes.flatMap((scope) => [this.#idOf(scope, 'day'), this.#idOf(scope, 'month')]);
  }

  #idOf(scope: string, period: Period): string {
    return `${scope}${this.#suffix(period)}`;
  }

  #suffix(period: Period): string {
    return ` ${this.#clock
      .now()
      .toISOString()
      .slice(0, period === 'day' ? 10 : 7)}`;
  }
}
