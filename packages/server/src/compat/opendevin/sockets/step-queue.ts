/**
 * Takes what a client sends one after the other.
 *
 * Q1  A step begins when the one before it has ended; after the wire is closed none does.
 * Q2  What waits is bounded as in every other inbox.
 */
import { Inbox } from '../../../realtime/inbox.ts';
import type { SharedWire } from './shared-wire.ts';

export class StepQueue {
  readonly #wire: SharedWire;
  readonly #onFailure: (cause: unknown) => void;
  readonly #inbox: Inbox<() => unknown>;
  #isTaking = false;

  constructor(wire: SharedWire, onFailure: (cause: unknown) => void) {
    this.#wire = wire;
    this.#inbox = new Inbox({ pauseReading: () => wire.pause(this), resumeReading: () => wire.resume(this) });
    this.#onFailure = onFailure;
  }

  /** False when the client floods: the caller must disconnect it. */
  add(step: () => unknown, bytes = 0): boolean {
    const isKept = this.#inbox.add(step, bytes);
    if (!this.#isTaking) void this.#run();
    return isKept;
  }

  async #run(): Promise<void> {
    this.#isTaking = true;
    while (!this.#inbox.isEmpty && !this.#wire.closed.aborted) {
      const step = this.#inbox.take();
      try {
        await step();
      } catch (cause) {
        this.#onFailure(cause);
      }
    }
    this.#isTaking = false;
  }
}
