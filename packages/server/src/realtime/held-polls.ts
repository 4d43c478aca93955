/**
 * Holds the requests by which clients that poll send: such a client has no socket that could be paused.
 *
 * H1  While a client is paused, at most one of its requests waits, with its body unread; another is refused as the library refuses it.
 * H2  A waiting request continues when the client is resumed or gone. Polls that only read are never held.
 */
import type { IncomingMessage } from 'node:http';

type Next = (error?: Error) => void;

export class HeldPolls {
  /** By connection id: the waiting request, if any. */
  readonly #paused = new Map<string, Next | undefined>();

  pause(connection: string): void {
    if (!this.#paused.has(connection)) this.#paused.set(connection, undefined);
  }

  resume(connection: string): void {
    const next = this.#paused.get(connection);
    this.#paused.delete(connection);
    next?.();
  }

  /** Runs before the library's own handling. */
  pass({ method, url }: IncomingMessage, next: Next): void {
    const id = method === 'POST' ? new URLSearchParams(url?.split('?')[1]).get('sid') : null;
    if (id === null || !this.#paused.has(id)) return next();
    if (this.#paused.get(id)) return next(new Error('a request of this client is held already'));
    this.#paused.set(id, next);
  }
}
