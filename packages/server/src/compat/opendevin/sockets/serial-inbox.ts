/**
 * Takes what a client sends one after the other.
 *
 * SI1  A step begins when the one before it has ended; after the wire is closed none does.
 * SI2  What waits is bounded as in every other inbox.
 */
import { Inbox } from '../../../realtime/inbox.ts';
import type { Wire } from '../../../realtime/wire.ts';

export class SerialInbox {
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
    const isAccepted = this.#inbox.add(step, bytes);
    if (!this.#isTaking) void this.#run();
    return isAccepted;
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

/** One wire for several speakers: each has a view that can be taken away without closing the socket, and reading goes on when nobody holds it up. */
export class SharedWire {
  readonly #wire: Wire;
  readonly #pausing = new Set<object>();

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get closed(): AbortSignal {
    return this.#wire.closed;
  }

  pause(who: object): void {
    this.#pausing.add(who);
    this.#wire.pauseReading();
  }

  resume(who: object): void {
    if (this.#pausing.delete(who) && this.#pausing.size === 0) this.#wire.resumeReading();
  }

  /** Looks closed, and is silent, when `ended` aborts. */
  view(ended: AbortSignal): Wire {
    const wire = this.#wire;
    const closed = AbortSignal.any([wire.closed, ended]);
    const view: Wire = {
      closed,
      unsent: wire.unsent,
      send: (frame) => closed.aborted || wire.send(frame),
      carriesVolatile: wire.carriesVolatile,
      sendVolatile: (frame) => closed.aborted || wire.sendVolatile(frame),
      pauseReading: () => this.pause(view),
      resumeReading: () => this.resume(view),
      close: (reason, how) => closed.aborted || wire.close(reason, how),
    };
    ended.addEventListener('abort', () => this.resume(view), { once: true });
    return view;
  }
}
