/**
 * Publishes the usage of this server to the other servers on the same storage, and reads theirs.
 *
 * US1  The other servers see a change after `PUBLISH_MS`. The last usage of a killed server counts for another `FRESH_MS`.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, RecordStore } from '@tendon/core';

/** By scope. */
export type Usage = Readonly<Record<string, { readonly running: number; readonly sandboxes: number }>>;

interface Published {
  readonly at: number;
  readonly usage: Usage;
}

const USAGE = 'usage';
const PUBLISH_MS = 2_000;
const REPEAT_MS = 5_000;
const FRESH_MS = 15_000;

export class SharedUsage {
  readonly #records: RecordStore;
  readonly #clock: Clock;
  readonly #own: () => Usage;
  readonly #id = randomUUID();
  readonly #closing = new AbortController();
  #publishing: Promise<void> | undefined;
  #published: Published | undefined;

  constructor(records: RecordStore, clock: Clock, own: () => Usage) {
    this.#records = records;
    this.#clock = clock;
    this.#own = own;
  }

  start(): void {
    this.#publishing ??= this.#publishOn();
  }

  /** The usage of a scope on all other servers together. */
  async others(scope: string): Promise<{ readonly running: number; readonly sandboxes: number }> {
    if (!this.#publishing) return { running: 0, sandboxes: 0 };
    let [running, sandboxes] = [0, 0];
    const now = this.#clock.now().getTime();
    for (const { id, value } of await this.#records.list<Published>(USAGE)) {
      if (id === this.#id || now - value.at > FRESH_MS) continue;
      running += value.usage[scope]?.running ?? 0;
      sandboxes += value.usage[scope]?.sandboxes ?? 0;
    }
    return { running, sandboxes };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#publishing;
    if (this.#published) await this.#records.delete(USAGE, this.#id).catch(() => undefined);
  }

  async #publishOn(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#publish().catch(() => undefined); // the next round publishes it
      await this.#clock.sleep(PUBLISH_MS, { signal }).catch(() => undefined);
    }
  }

  async #publish(): Promise<void> {
    const [at, usage] = [this.#clock.now().getTime(), this.#own()];
    const { usage: before = {}, at: last = 0 } = this.#published ?? {};
    const isSame = JSON.stringify(before) === JSON.stringify(usage);
    if (isSame && (Object.keys(usage).length === 0 || at - last < REPEAT_MS)) return;
    const published = { at, usage };
    await this.#records.put(USAGE, { id: this.#id, sort: '', value: published });
    this.#published = published;
    // Killed servers leave their last record behind.
    for (const { id, value } of await this.#records.list<Published>(USAGE)) {
      if (at - value.at > 20 * FRESH_MS) await this.#records.delete(USAGE, id);
    }
  }
}
