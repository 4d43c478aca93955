import { writeSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

const RETRY_MS = 5;

/**
 * What is typed into a terminal, in its order. The stream's own `write` tries again and again while the terminal is full, and nothing
 * else happens in this process until a program in it reads; here it is tried again after a while.
 */
export class TerminalInput {
  readonly #fd: number;
  readonly #master: Pick<ReadStream, 'destroyed'>;
  #waiting: Buffer[] = [];
  #unread = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `fd` does not block, and is the stream's: it is another file's once the stream is destroyed. */
  constructor(fd: number, master: Pick<ReadStream, 'destroyed'>) {
    this.#fd = fd;
    this.#master = master;
  }

  /** Bytes that the terminal has no space for so far. */
  get unread(): number {
    return this.#unread;
  }

  type(text: string): void {
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.#unread += bytes.length;
    if (this.#timer === undefined) this.#write();
  }

  #write(): void {
    this.#timer = undefined;
    while (this.#waiting.length > 0 && !this.#master.destroyed) {
      const [first] = this.#waiting as [Buffer];
      const written = this.#tryWrite(first);
      if (written === undefined) break;
      this.#unread -= written;
      if (written < first.length) this.#waiting[0] = first.subarray(written);
      else this.#waiting.shift();
      if (written > 0 || first.length === 0) continue;
      this.#timer = setTimeout(() => this.#write(), RETRY_MS);
      return;
    }
    this.#waiting = [];
    this.#unread = 0;
  }

  /** How much it took; `undefined`: the other side is gone. */
  #tryWrite(bytes: Buffer): number | undefined {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined;
    }
  }
}
