/** Tracks the frame borders of a WebSocket stream from a server: a frame can only be inserted between two others. */
export class FrameEnds {
  /** Bytes of the frame that are still to come, once its length is known. */
  #rest = 0;
  /** The beginning of a frame, as long as its length is not known. */
  #head: number[] = [];
  #isOver = false;

  /** Takes the next bytes. */
  pass(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(this.#rest, chunk.length - at);
      this.#rest -= skipped;
      at += skipped;
      if (this.#rest > 0 || at === chunk.length) return;
      this.#head.push(chunk[at++]!);
      this.#measure();
    }
  }

  get isBetween(): boolean {
    return this.#rest === 0 && this.#head.length === 0;
  }

  /** Whether a closing frame has passed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  #measure(): void {
    const [first = 0, second] = this.#head;
    if (second === undefined) return;
    const short = second & 0x7f;
    const bytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const masked = second & 0x80 ? 4 : 0;
    if (this.#head.length < 2 + bytes) return;
    const length = bytes === 0 ? short : this.#head.slice(2).reduce((sum, byte) => sum * 256 + byte, 0);
    this.#rest = length + masked;
    this.#isOver ||= (first & 0x0f) === CLOSE;
    this.#head = [];
  }
}

const CLOSE = 8;

/** Close code 1012: the server is restarting, so clients reconnect. */
export const SERVICE_RESTART = 1012;
export const GOING_AWAY = 1001;

export function closingFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  return Buffer.concat([Buffer.from([0x80 | CLOSE, 2 + text.length, code >> 8, code & 0xff]), text]);
}
