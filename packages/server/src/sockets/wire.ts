import type { Frame, VolatileFrame } from '@tendon/protocol';

/** One client's socket, whatever it is made of. Sending never waits and never throws; a closed wire swallows frames. */
export interface Wire {
  send(frame: Frame): void;
  /** Frames that only newer clients know, beside the stream; a wire without such a channel drops them. */
  sendVolatile(frame: VolatileFrame): void;
  /** Bytes handed over and not yet taken by the operating system. */
  readonly unsentBytes: number;
  /** Resolves when `unsentBytes` is at most `bytes`, or the wire is closed. */
  drained(bytes: number): Promise<void>;
  /** Stops and goes on reading from the client, where the transport can. */
  pauseReading(): void;
  resumeReading(): void;
  /** `reason` is for the log of the other side. */
  close(reason: string): void;
  /** Aborts when the wire is closed, by whichever side. */
  readonly closed: AbortSignal;
}

/** A client with more than this under way does not read, and would not read a goodbye either: it is cut off. */
export const MAX_UNSENT_FOR_GOODBYE = 64 * 1024;

/** Counts what is under way, and wakes those who wait for it to go down. */
export class UnsentBytes {
  #bytes = 0;
  #waiting: { readonly below: number; readonly wake: () => void }[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes < 0) this.#wake();
  }

  /** Nobody will take the rest: everyone who waits goes on. */
  clear(): void {
    this.#bytes = 0;
    this.#wake();
  }

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
