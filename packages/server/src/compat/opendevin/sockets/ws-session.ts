/**
 * A client of 2024 at `/ws`, of whichever generation. It owns how the client is addressed and which conversation its session stands for;
 * every frame of a conversation goes through a `Connection`.
 *
 * SW1  Frames are taken one after the other, behind the handshake.
 * SW2  The generation is detected once, by the first frame that only one sends, and remembered for the token's next socket.
 * SW3  A conversation is made when something needs one, once per session, however many sockets share it.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { failureFor } from '@tendon/core';
import {
  catalogError,
  isStateEvent,
  detectGeneration,
  WS_DIALECTS,
  type CatalogError,
  type Dialect,
  type WsDialect,
  type WsEntry,
  type WsGeneration,
} from '@tendon/protocol';
import { Connection } from '../../../realtime/connection.ts';
import { ClientSession, type Initialize } from '../../../realtime/client-session.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { readToken, signToken } from '../../../platform/auth/token.ts';
import { cursorFrom } from '../../../realtime/past.ts';
import type { Wire } from '../../../realtime/wire.ts';
import { initializeAnswer, readWsRequest } from './ws-handshake.ts';
import { SharedWire, SerialInbox } from './serial-inbox.ts';
import { WsSessions, type SessionsContext } from './ws-sessions.ts';
import type { RealtimeContext } from '../../../realtime/realtime-context.ts';

const LIVE_ONLY = Number.MAX_SAFE_INTEGER;
interface WsContext extends RealtimeContext, SessionsContext {
  readonly by: Caller;
}

/** The generation of a client whose frames have not shown it yet. */
const ASSUMED = {
  plain: 'opendevin-2024-03',
  auth: 'opendevin-2024-05',
  resumed: 'opendevin-2024-07',
  protocol: 'opendevin-2024-11',
} as const satisfies Record<WsEntry, WsGeneration>;

export class WsSession {
  readonly #context: WsContext;
  readonly #wire: Wire;
  readonly #shared: SharedWire;
  readonly #sessions: WsSessions;
  readonly #client: ClientSession;
  readonly #steps: SerialInbox;
  #sid = '';
  #entry: WsEntry = 'plain';
  #generation: WsGeneration | undefined;
  #cursor = 0;
  /** What was sent of the conversation, as the id that comes next. */
  #nextId = 0;
  /** The conversation was made for this socket: it has no past. */
  #isBeginning = false;
  #connection: Connection;
  #leave = new AbortController();

  constructor(wire: Wire, request: IncomingMessage, context: WsContext) {
    this.#context = context;
    this.#wire = wire;
    this.#shared = new SharedWire(wire);
    this.#sessions = WsSessions.of(context);
    this.#client = new ClientSession(context);
    this.#connection = this.#connect();
    this.#steps = new SerialInbox(this.#shared, (cause) => this.#connection.refuse(this.#failed(cause)));
    this.#steps.add(async () => {
      const error = await this.#begin(request).catch((cause: unknown) => this.#failed(cause));
      if (error) this.#sendAway(error);
    });
  }

  /** A frame as it was parsed from JSON. */
  receive(frame: unknown, bytes = 0): void {
    if (!this.#steps.add(() => this.#take(frame), bytes)) this.#sendAway(catalogError('TOO_MANY_REQUESTS'));
  }

  /** Something arrived that is no frame at all. */
  refuse(error: CatalogError): void {
    if (!this.#steps.add(() => this.#connection.refuse(error))) this.#sendAway(catalogError('TOO_MANY_REQUESTS'));
  }

  get #dialect(): WsDialect {
    return WS_DIALECTS[this.#generation ?? ASSUMED[this.#entry]];
  }

  #connect(): Connection {
    this.#leave = new AbortController();
    const dialect: Dialect = {
      name: 'opendevin-ws',
      greeting: [],
      encode: (event, phase) => {
        this.#nextId = Math.max(this.#nextId, event.id + 1);
        // The answer to `initialize` reports the state of a conversation that begins.
        if (this.#isBeginning && phase === 'replay' && isStateEvent(event)) return [];
        return this.#dialect.encode(event, phase);
      },
      encodeVolatile: (frame) => this.#dialect.encodeVolatile(frame),
      encodeError: (error, timestamp) => this.#dialect.encodeError(error, timestamp),
      decode: (frame) => this.#dialect.decode(frame),
    };
    return new Connection({ ...this.#context, wire: this.#shared.view(this.#leave.signal), dialect });
  }

  #sendAway(error: CatalogError): void {
    this.#connection.refuse(error);
    this.#wire.close(error.message);
  }

  #failed(cause: unknown): CatalogError {
    this.#context.logger.error({ err: cause, conversation: this.#connection.conversationId }, 'a frame of an old client failed');
    return failureFor(cause);
  }

  /** The handshake: the client's identity, the first frame, and the events that it missed. After an error the client cannot continue. */
  async #begin(request: IncomingMessage): Promise<CatalogError | undefined> {
    const { isProtocol, isRefused, token, latestEventId, isGreeted } = readWsRequest(request);
    if (isRefused) return void this.#wire.close('three subprotocols are expected: openhands, a token or NO_JWT, NO_GITHUB');
    const { jwtSecret } = this.#context;
    const known = token === undefined ? randomUUID() : await readToken(token, jwtSecret);
    if (known === undefined) {
      const { message, status } = catalogError('INVALID_TOKEN');
      this.#wire.send({ error: message, error_code: status });
      return void this.#wire.close(message);
    }
    this.#sid = known;
    this.#cursor = cursorFrom(latestEventId);
    if (token !== undefined) await this.#sessions.used(known);
    const record = token === undefined ? {} : await this.#sessions.get(known);
    this.#entry = isProtocol ? 'protocol' : token === undefined ? 'plain' : record.isFromAuth ? 'auth' : 'resumed';
    this.#generation = isProtocol ? 'opendevin-2024-11' : record.generation;
    if (this.#wire.closed.aborted) return undefined;
    const unlisten = this.#sessions.onRestart(known, () => this.#startOver());
    this.#wire.closed.addEventListener(
      'abort',
      () => {
        unlisten();
        this.#left();
      },
      { once: true },
    );
    if (this.#entry === 'auth') this.#sessions.touch(known);
    else this.#wire.send({ token: token ?? (await signToken(known, jwtSecret)), status: 'ok' });
    if (isGreeted) for (const frame of WS_DIALECTS['opendevin-2024-03'].greeting) this.#wire.send(frame);
    return record.conversation === undefined ? undefined : this.#attach(record.conversation);
  }

  async #take(frame: unknown): Promise<void> {
    this.#detect(frame);
    const decoded = this.#dialect.decode(frame);
    if (decoded.type === 'initialize') return this.#initialize(decoded);
    const needsOne = decoded.type === 'start' || (decoded.type === 'action' && decoded.action.action !== 'change_agent_state');
    const error = needsOne ? await this.#ensureConversation() : undefined;
    if (error) this.#connection.refuse(error);
    else this.#connection.receiveDecoded(decoded);
  }

  #detect(frame: unknown): void {
    if (this.#generation !== undefined) return;
    this.#generation = detectGeneration(this.#entry, frame);
    if (this.#generation !== undefined && this.#connection.conversationId !== undefined) void this.#remember();
  }

  async #remember(): Promise<void> {
    const generation = this.#generation;
    try {
      await this.#sessions.change(this.#sid, (record) =>
        generation && record.generation !== generation ? { ...record, generation } : record,
      );
    } catch (cause) {
      this.#context.logger.warn({ err: cause }, 'the generation of a client was not stored');
    }
  }

  /**
   * For opendevin-2024-03 this only sets parameters, unless it names a folder or an unknown agent. Later ones have their conversation from
   * here on, and are sent its state.
   */
  async #initialize(decoded: Initialize): Promise<void> {
    const refusal = await this.#client.initialize(decoded, this.#connection.conversationId);
    if (refusal) return this.#connection.refuse(refusal);
    const onlySetsParameters = this.#dialect === WS_DIALECTS['opendevin-2024-03'] && this.#entry === 'plain';
    const error = onlySetsParameters && !this.#client.wantsAnswerAtOnce ? undefined : await this.#ensureConversation();
    if (error) return this.#connection.refuse(error);
    this.#answerInitialize();
  }

  #answerInitialize(): void {
    const { clock, conversations } = this.#context;
    const id = this.#connection.conversationId;
    const answer = initializeAnswer({
      dialect: this.#dialect,
      isEither: this.#entry === 'auth' && this.#generation === undefined,
      state: id === undefined ? undefined : conversations.state(id),
      timestamp: clock.now().toISOString(),
    });
    for (const frame of answer) this.#wire.send(frame);
  }

  async #ensureConversation(): Promise<CatalogError | undefined> {
    if (this.#connection.conversationId !== undefined) return undefined;
    let refusal: CatalogError | undefined;
    const record = await this.#sessions.change(this.#sid, async (before) => {
      if (before.conversation !== undefined) return before;
      const created = await this.#client.create();
      this.#isBeginning = created.ok;
      if (created.ok) return { ...before, conversation: created.record.id, ...(this.#generation && { generation: this.#generation }) };
      refusal = created.error;
      return before;
    });
    return refusal ?? (record.conversation === undefined ? catalogError('INTERNAL') : this.#attach(record.conversation));
  }

  /**
   * opendevin-2024-04 to opendevin-2024-06 fetch what is past over REST; what they get here is live, and what they missed when they were only cut off. Of what begins
   * here nothing is past, whatever a client brought as its cursor.
   */
  #attach(conversationId: string): Promise<CatalogError | undefined> {
    if (this.#isBeginning) return this.#connection.attach(conversationId, 0);
    if (this.#entry !== 'auth') return this.#connection.attach(conversationId, this.#cursor);
    const left = this.#sessions.left(this.#sid);
    return left?.conversation === conversationId
      ? this.#connection.attach(conversationId, left.nextId)
      : this.#connection.attach(conversationId, LIVE_ONLY, { opens: true });
  }

  #left(): void {
    const conversation = this.#connection.conversationId;
    if (this.#entry === 'auth' && conversation !== undefined && this.#nextId > 0)
      this.#sessions.leave(this.#sid, { conversation, nextId: this.#nextId });
  }

  #startOver(): void {
    this.#leave.abort();
    this.#cursor = 0;
    this.#nextId = 0;
    this.#isBeginning = false;
    this.#connection = this.#connect();
  }
}
