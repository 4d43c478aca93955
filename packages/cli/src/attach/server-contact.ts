/**
 * Owns what is known of whether the server of a connection is reached, and finds it again where it has another address by now.
 *
 * CW1  It reports once that the server is away, when a second attempt to reach it failed, and then that it is back.
 * CW2  A stop that could not be sent is sent when the server is back, before any message.
 */
import { actions, type ConnectionState, type ConversationConnection } from '@tendon/client';
import type { AttachedServer } from './attached-server.ts';

/** `lost`: a moment ago; `away`: for longer than that; `back`: after `away`. */
export type Contact = 'there' | 'lost' | 'away' | 'back';

export interface ContactPlace {
  readonly server: Pick<AttachedServer, 'find'>;
  readonly connection: ConversationConnection | undefined;
  contactChanged(now: Contact): void;
  /** The server was to be started, and did not. */
  notFound(problem: Error): void;
}

export class ServerContact {
  readonly #place: ContactPlace;
  #contact: Contact = 'there';
  #stopsLater = false;

  constructor(place: ContactPlace) {
    this.#place = place;
  }

  get isAway(): boolean {
    return this.#contact === 'away';
  }

  take({ state, ...now }: ConnectionState): void {
    if (state === 'connected') return this.#back();
    if (state !== 'reconnecting' && state !== 'offline') return this.reset();
    const isAway = 'attempt' in now && now.attempt > 1;
    this.#change(isAway || this.#contact === 'away' ? 'away' : 'lost');
    if (isAway) void this.#find();
  }

  /** For another connection. */
  reset(): void {
    this.#stopsLater = false;
    this.#change('there');
  }

  /** Stops the agent, now or when the server is back. Returns whether now. */
  stop(): boolean {
    const isSent = this.#place.connection?.send(actions.stop()) === true;
    this.#stopsLater = !isSent;
    return isSent;
  }

  #back(): void {
    if (this.#stopsLater) this.stop();
    this.#change(this.#contact === 'away' ? 'back' : 'there');
  }

  #change(now: Contact): void {
    if (now !== this.#contact) this.#place.contactChanged((this.#contact = now));
  }

  async #find(): Promise<void> {
    const { connection, server } = this.#place;
    try {
      if (await server.find()) connection?.retry();
    } catch (error) {
      if (this.#contact === 'away' && connection === this.#place.connection) this.#place.notFound(error as Error);
    }
  }
}
