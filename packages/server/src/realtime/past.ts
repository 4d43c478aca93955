/**
 * The frames of the events that were stored before a client came, in sending order (ES2 of `EventStream`). One event waits until the
 * next one is known: the last state goes before the last event when it is the older of the two.
 */
import { isObservation, isStateEvent, type Dialect, type Event, type Frame } from '@tendon/protocol';

export class Past {
  readonly #dialect: Dialect;
  #state: Event | undefined;
  #lastId = -1;
  #last: readonly Frame[] = [];

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Whether a state was among the events, sent or not. */
  get hasState(): boolean {
    return this.#state !== undefined;
  }

  /** The frames that can be sent now that this event follows. */
  next(event: Event): readonly Frame[] {
    if (isStateEvent(event) && !this.#dialect.replay?.hasStates) {
      this.#state = event;
      return [];
    }
    const frames = this.#dialect.encode(event, 'replay');
    if (frames.length === 0) return [];
    const before = this.#last;
    this.#last = frames;
    this.#lastId = event.id;
    return before;
  }

  /** The remaining frames after the last event. */
  end(): readonly Frame[] {
    const state = this.#state && !isLoading(this.#state) ? this.#dialect.encode(this.#state, 'replay') : [];
    return this.#state && this.#state.id > this.#lastId ? [...this.#last, ...state] : [...state, ...this.#last];
  }
}

function isLoading(event: Event): boolean {
  return isObservation(event) && event.observation === 'agent_state_changed' && event.extras.agent_state === 'loading';
}

/**
 * The first id that a client wants, from the last one it has. Everything that is not a number ≥ −1 (frontends really send
 * `undefined` after a reconnect without events) means all.
 */
export function cursorFrom(latestEventId: unknown): number {
  const id = typeof latestEventId === 'string' && latestEventId.trim() !== '' ? Number(latestEventId) : latestEventId;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= -1 ? id + 1 : 0;
}

const MAX_TAIL = 10_000;

/** How many of the stored events a client wants; nothing for what is no count. */
export function tailFrom(tail: unknown): number | undefined {
  const count = typeof tail === 'string' && /^\d{1,9}$/.test(tail) ? Number(tail) : 0;
  return count > 0 ? Math.min(count, MAX_TAIL) : undefined;
}
