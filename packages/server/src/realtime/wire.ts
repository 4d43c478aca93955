import type { Frame, VolatileFrame } from '@tendon/protocol';

/** One client's socket, whatever it is made of. Sending never waits and never throws; a closed wire swallows frames. */
export interface Wire {
  send(frame: Frame): void;
  /** Whether it has a channel beside the stream. */
  readonly carriesVolatile: boolean;
  /** Frames that only newer clients know, beside the stream; a wire without such a channel drops them. */
  sendVolatile(frame: VolatileFrame): void;
  readonly unsent: Unsent;
  /** Stops and goes on reading from the client, where the transport can. */
  pauseReading(): void;
  resumeReading(): void;
  /** `reason` is for the log of the other side. */
  close(reason: string, how?: Closing): void;
  /** Aborts when the wire is closed, by whichever side. */
  readonly closed: AbortSignal;
}

export interface Closing {
  /** Real clients connect again by themselves. */
  readonly invitesBack: true;
}

/** A client with more than this under way does not read, and would not read a goodbye either: it is cut off. */
const MAX_FOR_GOODBYE_BYTES = 64 * 1024;

/** Counts what was handed over and not yet taken by the operating system, and wakes those who wait for it to go down. */
export class Unsent {
  #bytes = 0;
  #waiting: { readonly below: number; readonly wake: () => void }[] = [];
  readonly #closed: AbortSignal;

  constructor(closed: AbortSignal) {
    this.#closed = closed;
    closed.addEventListener('abort', () => {
      // Nobody will take the rest: everyone who waits goes on.
      this.#bytes = 0;
      this.#wake();
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isTooMuchForGoodbye(): boolean {
    return this.#bytes > MAX_FOR_GOODBYE_BYTES;
  }

  add(bytes: number): void {
    if (this.#closed.aborted) return;
    this.#bytes += bytes;
    if (bytes < 0) this.#wake();
  }

  /** Resolves when at most so many are left, or the wire is closed. */
  drained(below: number): Promise<void> {
    if (this.#bytes <= below) return Promise.resolve();
    return new Promise((wake) => this.#waiting.push({ below, wake }));
  }

  #wake(): void {
    const ready = this.#waiting.filter((waiter) => this.#bytes <= waiter.below);
    this.#waiting = this.#waiting.filter((waiter) => this.#bytes > waiter.below);
    for (const waiter of ready) waiter.wake();
  }
}
