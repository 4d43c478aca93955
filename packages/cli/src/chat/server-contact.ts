/**
 * Owns what a chat knows of whether its server is reached, and reports it.
 *
 * CW1  It reports once that the server is away, when a second attempt to reach it failed, and then that it is back.
 * CW2  A stop that could not be sent is sent when it is back.
 */
import { actions, type ConnectionState, type ConversationConnection } from '@tendon/client';

/** The chat that has the contact. */
export interface ContactPlace {
  readonly connection: ConversationConnection | undefined;
  /** In the place of what the agent does, as long as there is something. */
  obstructed(words: string | undefined): void;
  /** A line of the program that nobody asked for. */
  announce(text: string): void;
  /** Looks for the server, and resolves with whether one is there. */
  findServer(): Promise<boolean>;
}

export class ServerContact {
  readonly #place: ContactPlace;
  #isAway = false;
  #stopsLater = false;

  constructor(place: ContactPlace) {
    this.#place = place;
  }

  take(now: ConnectionState): void {
    if (now.state === 'connected') return this.#back();
    if (now.state !== 'reconnecting' && now.state !== 'offline') return this.reset();
    this.#place.obstructed('Reconnecting to the server');
    if (now.attempt < 2) return;
    if (!this.#isAway) this.#place.announce(AWAY);
    this.#isAway = true;
    void this.#find();
  }

  /** For another conversation. */
  reset(): void {
    this.#place.obstructed(undefined);
    this.#isAway = false;
    this.#stopsLater = false;
  }

  /** Stops the agent, and says what that means. */
  stop(): void {
    const isSent = this.#place.connection?.send(actions.stop()) === true;
    this.#stopsLater = !isSent;
    this.#place.announce(
      isSent ? 'Stopping; once more leaves' : 'The server is away: it is asked to stop when it is back; once more leaves',
    );
  }

  #back(): void {
    if (this.#stopsLater) this.#place.connection?.send(actions.stop());
    if (this.#isAway) this.#place.announce('The server is back.');
    this.reset();
  }

  async #find(): Promise<void> {
    const { connection } = this.#place;
    try {
      if (await this.#place.findServer()) connection?.retry();
    } catch (error) {
      if (this.#isAway && connection === this.#place.connection) this.#place.announce((error as Error).message);
    }
  }
}

const AWAY = 'The server is away; reconnecting. Ctrl-C twice leaves, and tendon -c goes on later.';
