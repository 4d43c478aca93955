/**
 * A Socket.IO client that named no conversation. Its first frame tells its generation: `initialize` is a frontend of 0.15–0.17,
 * which gets a token and brings it back; anything else is a client written by the letter of `openhands-events.md`.
 */
import { catalogError, eventsDoc, openhandsV0, openhandsV0InBand, type CatalogError, type Dialect, type Frame } from '@tendon/protocol';
import type { Connection } from './connection.ts';
import type { Engine } from '../engine.ts';
import { wishFrom } from '../conversations/initialize-wish.ts';
import type { Logger } from '../logger.ts';
import { readToken, signToken } from '../security/token.ts';
import { cursorFrom } from './cursor.ts';
import type { Wire } from './wire.ts';

export interface InBandOptions {
  readonly speak: (dialect: Dialect) => Connection;
  readonly wire: Wire;
  readonly engine: Engine;
  readonly logger: Logger;
  /** The client said that it goes by the document. */
  readonly isDocument: boolean;
}

export class InBandSession {
  readonly #options: InBandOptions;
  #connection: Connection | undefined;
  #ready: Promise<void> = Promise.resolve();

  constructor(options: InBandOptions) {
    this.#options = options;
    if (options.isDocument) this.#connection = options.speak(eventsDoc);
  }

  receive(frame: unknown): void {
    if (this.#connection) {
      const connection = this.#connection;
      void this.#ready.then(() => connection.receive(frame));
      return;
    }
    const isInitialize = typeof frame === 'object' && frame !== null && (frame as Frame).action === 'initialize';
    this.#connection = this.#options.speak(isInitialize ? openhandsV0InBand : eventsDoc);
    if (!isInitialize) return this.#connection.receive(frame);
    this.#ready = this.#initialize(this.#connection, frame as Frame).catch((cause: unknown) => {
      this.#options.logger.error({ err: cause }, 'a session could not be initialized');
      this.#connection?.refuse(catalogError('INTERNAL'));
      this.#options.wire.close(catalogError('INTERNAL').message);
    });
  }

  /** The session is the conversation: the token carries its id. */
  async #initialize(connection: Connection, frame: Frame): Promise<void> {
    const { engine, wire } = this.#options;
    const found = await this.#conversationOf(frame);
    if (!found.ok) {
      if (found.error.code !== 'INVALID_TOKEN') return connection.refuse(found.error);
      wire.send({ error: found.error.message, error_code: found.error.status });
      return wire.close(found.error.message);
    }
    wire.send({ token: await signToken(found.id, engine.jwtSecret), status: 'ok' });
    await connection.begin(found.id, cursorFrom(frame.latest_event_id));
  }

  async #conversationOf(
    frame: Frame,
  ): Promise<{ readonly ok: true; readonly id: string } | { readonly ok: false; readonly error: CatalogError }> {
    const { conversations, jwtSecret } = this.#options.engine;
    const decoded = openhandsV0.decode(frame);
    const wish = decoded.type === 'initialize' ? wishFrom(decoded) : undefined;
    if (typeof frame.token === 'string' && frame.token !== '') {
      const id = await readToken(frame.token, jwtSecret);
      if (id === undefined || !(await conversations.get(id))) return { ok: false, error: catalogError('INVALID_TOKEN') };
      if (wish && !wish.ok) return wish;
      // Its key is not stored: who comes back brings it again.
      if (wish) await conversations.configure(id, wish.wish);
      return { ok: true, id };
    }
    if (!wish?.ok) return { ok: false, error: wish?.error ?? catalogError('INVALID_FRAME', 'it is no initialize') };
    const created = await conversations.create(wish.wish);
    return created.ok ? { ok: true, id: created.record.id } : created;
  }
}
