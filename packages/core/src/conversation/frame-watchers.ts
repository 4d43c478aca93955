/**
 * Who watches a conversation's volatile frames. It owns what a watcher that comes later is given: the last status, what the
 * running action has printed, and the answer that is being written.
 */
import {
  deltasOf,
  unlessEnded,
  withDelta,
  type DeltaFrame,
  type Event,
  type OutputFrame,
  type PartialAnswer,
  type StatusFrame,
  type VolatileFrame,
} from '@tendon/protocol';

/** The maximum of stored output; the newest is stored. */
const MAX_CHARS = 1024 * 1024;

export class FrameWatchers {
  readonly #watchers = new Set<(frame: VolatileFrame) => void>();
  #lastStatus: StatusFrame | undefined;
  /** In order. Of the last action that printed anything, whether or not it still runs. */
  #output: OutputFrame[] = [];
  #chars = 0;
  #answer: PartialAnswer | undefined;

  /** One frame for each part that has begun. */
  get partialAnswer(): readonly DeltaFrame[] {
    return deltasOf(this.#answer);
  }

  readonly emit = (frame: VolatileFrame): void => {
    if (frame.volatile === 'status') this.#lastStatus = frame;
    if (frame.volatile === 'output') this.#keep(frame);
    if (frame.volatile === 'delta') this.#answer = withDelta(this.#answer, frame);
    for (const watcher of this.#watchers) watcher(frame);
  };

  /** `running`: ids of the actions whose output is still of interest. The returned function ends it. */
  watch(listener: (frame: VolatileFrame) => void, running: ReadonlySet<number>): () => void {
    this.#watchers.add(listener);
    if (this.#lastStatus) listener(this.#lastStatus);
    for (const frame of this.#output) if (running.has(frame.cause)) listener(frame);
    for (const frame of this.partialAnswer) listener(frame);
    return () => this.#watchers.delete(listener);
  }

  /** An event of the log, as it comes. */
  readonly settle = (event: Event): void => {
    this.#answer = unlessEnded(this.#answer, event);
  };

  clear(): void {
    this.#watchers.clear();
  }

  #keep(frame: OutputFrame): void {
    if (this.#output[0]?.cause !== frame.cause) {
      this.#output = [];
      this.#chars = 0;
    }
    this.#output.push(frame);
    this.#chars += frame.text.length;
    while (this.#chars > MAX_CHARS && this.#output.length > 1) this.#chars -= this.#output.shift()!.text.length;
  }
}
