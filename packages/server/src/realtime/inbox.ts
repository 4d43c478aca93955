/**
 * The received frames of a client that are not handled yet.
 *
 * INB1  With `MAX_FRAMES` frames or `MAX_BYTES` bytes waiting, nothing more is read from the client until fewer wait.
 * INB2  Frames that were read before the pause are still added, at most one body of a poll. With `MAX_READ` frames they are all dropped.
 */
import type { Wire } from './wire.ts';

const MAX_FRAMES = 64;
const MAX_BYTES = 4 * 1024 * 1024;
/** More of the smallest meaningful frames than one read of the operating system holds. */
const MAX_READ = 10_000;

interface Waiting<T> {
  readonly frame: T;
  readonly bytes: number;
}

export class Inbox<T> {
  readonly #reading: Pick<Wire, 'pauseReading' | 'resumeReading'>;
  #waiting: Waiting<T>[] = [];
  #bytes = 0;
  #isPaused = false;

  constructor(reading: Pick<Wire, 'pauseReading' | 'resumeReading'>) {
    this.#reading = reading;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** `bytes`: the frame's size on the wire. False for a flood: then nothing waits any more, and the caller must disconnect the client. */
  add(frame: T, bytes: number): boolean {
    if (this.#waiting.length >= MAX_READ) {
      this.#waiting = [];
      return false;
    }
    this.#waiting.push({ frame, bytes });
    this.#bytes += bytes;
    if (!this.#isPaused && this.#isFull) {
      this.#isPaused = true;
      this.#reading.pauseReading();
    }
    return true;
  }

  /** The oldest frame. The caller must know that there is one. */
  take(): T {
    const { frame, bytes } = this.#waiting.shift()!;
    this.#bytes -= bytes;
    if (this.#isPaused && !this.#isFull) {
      this.#isPaused = false;
      this.#reading.resumeReading();
    }
    return frame;
  }

  get #isFull(): boolean {
    return this.#waiting.length >= MAX_FRAMES || this.#bytes >= MAX_BYTES;
  }
}
