/**
 * Retries a conversation's own writes while the storage cannot store them, as on a full disk,
 * and notifies watchers when that begins and when it is over.
 *
 * Invariants
 * WR1  Only a write that was rolled back, or may have been, is retried: an append to an id that was given is refused. Every other failure goes
 *      to the caller.
 * WR2  However many events wait, watchers are notified once of the beginning and once of the end.
 */
import type { VolatileFrame } from '@tendon/protocol';
import type { Clock } from '../async/clock.ts';
import { StorageError, failureFor } from '../log/storage-error.ts';

export interface WriteRetryOptions {
  readonly clock: Clock;
  /** Ends every wait; the failed write is then rejected. */
  readonly closing: AbortSignal;
  readonly emit: (frame: VolatileFrame) => void;
  readonly report: (error: unknown) => void;
}

const PAUSE_MS = 1_000;

export class WriteRetry {
  readonly #options: WriteRetryOptions;
  #waiting = 0;

  constructor(options: WriteRetryOptions) {
    this.#options = options;
  }

  /** Resolves when `write` does, however often it is rolled back before. */
  async untilWritten<T>(write: () => Promise<T>): Promise<T> {
    const { clock, closing } = this.#options;
    let isWaiting = false;
    try {
      for (;;) {
        try {
          return await write();
        } catch (error) {
          if (!(error instanceof StorageError && (error.code === 'undone' || error.code === 'unknown')) || closing.aborted) throw error;
          if (!isWaiting) this.#begin(error);
          isWaiting = true;
          await clock.sleep(PAUSE_MS, { signal: closing }).catch(() => undefined);
        }
      }
    } finally {
      if (isWaiting) this.#end();
    }
  }

  #begin(error: StorageError): void {
    if (++this.#waiting > 1) return;
    this.#options.report(error);
    const { messageId, message } = failureFor(error);
    this.#options.emit({ volatile: 'status', type: 'error', id: messageId, message });
  }

  #end(): void {
    if (--this.#waiting > 0 || this.#options.closing.aborted) return;
    this.#options.emit({ volatile: 'status', type: 'info', id: 'STATUS$READY', message: 'Events can be stored again; the work goes on.' });
  }
}
