/**
 * A Socket.IO client that named no conversation. Its first frame shows its generation: `initialize` is a frontend of 0.15–0.17,
 * which gets a token and brings it back; anything else is a client written by the letter of `openhands-events.md`. So is one that says
 * nothing: those frontends send at once, and a client of the document may wait until the agent is reported as ready.
 */
import { catalogError, eventsDoc, openhandsV0, openhandsV0InBand, type CatalogError, type Dialect, type Frame } from '@tendon/protocol';
import { failureFor } from '@tendon/core';
import type { Connection } from './connection.ts';
import { ClientSession } from './client-session.ts';
import type { Caller } from '../platform/auth/caller.ts';
import { readToken, signToken } from '../platform/auth/token.ts';
import { cursorFrom } from './past.ts';
import type { RealtimeContext } from './realtime-context.ts';
import type { Wire } from './wire.ts';

export interface InBandOptions extends Pick<RealtimeContext, 'conversations' | 'jwtSecret' | 'logger' | 'clock' | 'timeouts'> {
  readonly speak: (dialect: Dialect) => Connection;
  readonly wire: Wire;
  /** The client declared that it goes by the document. */
  readonly isDocument: boolean;
  readonly by: Caller;
}

export class InBandSession {
  readonly #options: InBandOptions;
  #connection: Connection | undefined;
  #isDocument: boolean;

  constructor(options: InBandOptions) {
    this.#options = options;
    this.#isDocument = options.isDocument;
    if (this.#isDocument) this.#speak(eventsDoc).createConversation();
    else void this.#beginUnlessInitialized();
  }

  receive(frame: unknown, bytes = 0): void {
    if (this.#connection) return this.#connection.receive(frame, bytes);
    const isInitialize = typeof frame === 'object' && frame !== null && (frame as Frame).action === 'initialize';
    this.#isDocument = !isInitialize;
    const connection = this.#speak(isInitialize ? openhandsV0InBand : eventsDoc);
    if (!isInitialize) return connection.receive(frame, bytes);
    const initialized = this.#initialize(connection, frame as Frame).catch((cause: unknown) => {
      this.#options.logger.error({ err: cause }, 'a session could not be initialized');
      const error = failureFor(cause);
      connection.refuse(error);
      this.#options.wire.close(error.message);
    });
    connection.holdFrames(initialized);
  }

  #speak(dialect: Dialect): Connection {
    this.#connection = this.#options.speak(dialect);
    return this.#connection;
  }

  /** After a while without a frame, or after a first one that made no conversation. */
  async #beginUnlessInitialized(): Promise<void> {
    const { clock, wire, timeouts } = this.#options;
    const isOver = await clock.sleep(timeouts.firstFrameMs, { signal: wire.closed }).then(
      () => true,
      () => false,
    );
    if (!isOver) return;
    this.#isDocument ||= this.#connection === undefined;
    if (this.#isDocument) (this.#connection ?? this.#speak(eventsDoc)).createConversation();
  }

  /** The session is the conversation: the token carries its id. */
  async #initialize(connection: Connection, frame: Frame): Promise<void> {
    const { jwtSecret, wire } = this.#options;
    const found = await this.#conversationOf(frame);
    if (!found.ok) {
      if (found.error.code !== 'INVALID_TOKEN') return connection.refuse(found.error);
      wire.send({ error: found.error.message, error_code: found.error.status });
      return wire.close(found.error.message);
    }
    wire.send({ token: await signToken(found.id, jwtSecret), status: 'ok' });
    await connection.begin(found.id, cursorFrom(frame.latest_event_id));
  }

  async #conversationOf(
    frame: Frame,
  ): Promise<{ readonly ok: true; readonly id: string } | { readonly ok: false; readonly error: CatalogError }> {
    const { conversations, jwtSecret, by } = this.#options;
    const session = new ClientSession(this.#options);
    const decoded = openhandsV0.decode(frame);
    if (typeof frame.token === 'string' && frame.token !== '') {
      const id = await readToken(frame.token, jwtSecret);
      if (id === undefined || !(await conversations.get(id)) || !(await conversations.visibility.sees(by, id)))
        return { ok: false, error: catalogError('INVALID_TOKEN') };
      // Who comes back brings model and key again, perhaps others.
      const error = decoded.type === 'initialize' ? await session.initialize(decoded, id) : undefined;
      return error ? { ok: false, error } : { ok: true, id };
    }
    if (decoded.type !== 'initialize') return { ok: false, error: catalogError('INVALID_FRAME', 'it is no initialize') };
    const error = await session.initialize(decoded, undefined);
    if (error) return { ok: false, error };
    const created = await session.create();
    return created.ok ? { ok: true, id: created.record.id } : created;
  }
}
