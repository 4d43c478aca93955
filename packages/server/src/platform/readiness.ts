/**
 * Owns whether this server takes work, for load balancers that ask. It does not own the work: `drain-server.ts` ends it.
 *
 * Invariants
 * REA1  A server that began to drain is never ready again.
 * REA2  The storage is asked at most once at a time and once a second, however often this is; what hangs longer than `ANSWER_MS` counts as gone.
 */
import type { Clock, Storage } from '@tendon/core';

/** Why a server takes no work now. */
export type Unready = 'draining' | 'storage';

/** For others it is a fact that the server is leaving; only the shutdown begins it. */
export interface Draining {
  readonly isDraining: boolean;
}

const FRESH_MS = 1_000;
const ANSWER_MS = 2_000;

export class Readiness implements Draining {
  readonly #records: Storage['records'];
  readonly #clock: Clock;
  #isDraining = false;
  #asking: Promise<boolean> | undefined;
  #looked: { readonly at: number; readonly answers: Promise<boolean> } | undefined;

  constructor({ records }: Pick<Storage, 'records'>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  beginDraining(): void {
    this.#isDraining = true;
  }

  /** `undefined`: it is ready. Never rejects. */
  async problem(): Promise<Unready | undefined> {
    if (this.#isDraining) return 'draining';
    const now = this.#clock.now().getTime();
    if (!this.#looked || now - this.#looked.at >= FRESH_MS) this.#looked = { at: now, answers: this.#answersInTime() };
    return (await this.#looked.answers) ? undefined : 'storage';
  }

  async #answersInTime(): Promise<boolean> {
    const over = new AbortController();
    const late = this.#clock.sleep(ANSWER_MS, { signal: over.signal }).then(
      () => false,
      () => true,
    );
    this.#asking ??= this.#ask();
    return Promise.race([this.#asking, late]).finally(() => over.abort());
  }

  /** Any read goes where all of them go. */
  #ask(): Promise<boolean> {
    return this.#records
      .get('readiness', 'is not stored')
      .then(
        () => true,
        () => false,
      )
      .finally(() => (this.#asking = undefined));
  }
}
