/**
 * Takes what a client sends one after the other.
 *
 * Q1  A step begins when the one before it has ended; after the wire is closed none does.
 * Q2  With `MAX_WAITING` steps waiting nothing more is read from the client.
 */
import type { SharedWire } from './shared-wire.ts';

const MAX_WAITING = 64;

export class StepQueue {
  readonly #wire: SharedWire;
  readonly #onFailure: (cause: unknown) => void;
  readonly #waiting: (() => unknown)[] = [];
  #isTaking = false;

  constructor(wire: SharedWire, onFailure: (cause: unknown) => void) {
    this.#wire = wire;
    this.#onFailure = onFailure;
  }

  add(step: () => unknown): void {
    this.#waiting.push(step);
    if (this.#waiting.length === MAX_WAITING) this.#wire.pause(this);
    if (!this.#isTaking) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isTaking = true;
    while (this.#waiting.length > 0 && !this.#wire.closed.aborted) {
      const step = this.#waiting.shift()!;
      if (this.#waiting.length < MAX_WAITING) this.#wire.resume(this);
      try {
        await step();
      } catch (cause) {
        this.#onFailure(cause);
      }
    }
    this.#isTaking = false;
  }
}
