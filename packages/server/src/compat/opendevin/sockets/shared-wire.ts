import type { Wire } from '../../../realtime/wire.ts';

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
      close: (reason) => closed.aborted || wire.close(reason),
    };
    ended.addEventListener('abort', () => this.resume(view), { once: true });
    return view;
  }
}
