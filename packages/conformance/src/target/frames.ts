export type Frame = Readonly<Record<string, unknown>>;

const MAX_FRAMES = 200_000;

/** What a client was sent, in order, and waits for what it will be sent, as long as the socket is there. Owns nothing but its waiters. */
export class Frames {
  readonly all: Frame[] = [];
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #ended: string | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  push(frame: Frame): void {
    if (this.all.length < MAX_FRAMES) this.all.push(frame);
    for (const look of this.#waiting) look();
  }

  /** Nothing more will come: who waits need not wait longer. */
  end(why: string): void {
    this.#ended ??= why;
    for (const look of this.#waiting) look();
  }

  /** The first frame, from position `from` on, that fits; rejects with what came instead. */
  async until(what: string, fits: (frame: Frame) => boolean, { from = 0, withinMs = this.#timeoutMs } = {}): Promise<Frame> {
    const { promise, resolve } = Promise.withResolvers<Frame | undefined>();
    let next = from;
    const look = (): void => {
      while (next < this.all.length) {
        const frame = this.all[next++]!;
        if (fits(frame)) return resolve(frame);
      }
      if (this.#ended !== undefined) resolve(undefined);
    };
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#waiting.add(look);
    look();
    try {
      const found = await promise;
      if (found) return found;
      const waited = this.#ended === undefined ? `within ${withinMs / 1000} s` : `before the connection ended (${this.#ended})`;
      throw new Error(`no ${what} ${waited}; the last that came: ${describe(this.all.slice(from).slice(-4))}`);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }
}

export function isAction(kind: string): (frame: Frame) => boolean {
  return (frame) => frame.action === kind;
}

export function isObservation(kind: string): (frame: Frame) => boolean {
  return (frame) => frame.observation === kind;
}

/** The agent's state, as every generation since May 2024 sends it. */
export function isState(...states: readonly string[]): (frame: Frame) => boolean {
  return (frame) => frame.observation === 'agent_state_changed' && states.includes(String(extrasOf(frame).agent_state).toLowerCase());
}

export function argsOf(frame: Frame): Frame {
  return (frame.args ?? {}) as Frame;
}

export function extrasOf(frame: Frame): Frame {
  return (frame.extras ?? {}) as Frame;
}

function describe(frames: readonly Frame[]): string {
  return frames.length === 0 ? 'nothing' : frames.map((frame) => JSON.stringify(frame).slice(0, 300)).join(' ');
}
