/** How long a call may take, without what a person took to answer in the middle of it. */
export class CallTimer {
  readonly #ms: number;
  readonly #over = new AbortController();
  #left: number;
  #waits = 0;
  #since = performance.now();
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#left = ms;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get words(): string {
    return `there is no answer after ${this.#ms / 1000} seconds`;
  }

  async without<T>(wait: Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.#pause();
    try {
      return await wait;
    } finally {
      if (--this.#waits === 0 && !this.#over.signal.aborted) this.#timer = this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#since;
  }

  #start(): NodeJS.Timeout {
    this.#since = performance.now();
    return setTimeout(() => this.#over.abort(), Math.max(this.#left, 0)).unref();
  }
}
