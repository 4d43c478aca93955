/**
 * One client and its conversation, through a dialect. Owns neither the socket nor the conversation; the events that it sends are in `EventStream`.
 *
 * CC1  Frames of the client are taken one after the other, and each is answered: by an event, an answer or an error. `createConversation` waits its
 *      turn among them, so a connection never creates two conversations.
 */
import { failureFor, type Clock } from '@tendon/core';
import {
  catalogError,
  type ParsedAction,
  type CatalogError,
  type Decoded,
  type Dialect,
  type Frame,
  type VolatileFrame,
} from '@tendon/protocol';
import type { Conversations } from '../conversations/conversations.ts';
import { ClientSession, type ClientSessionOptions, type Initialize } from './client-session.ts';
import { EventStream, type Cursor } from './event-stream.ts';
import { Inbox } from './inbox.ts';
import type { Logger } from '../platform/logger.ts';
import type { Tracing } from '../observability/tracing/tracing.ts';
import type { Metrics } from '../platform/metrics.ts';
import { MOVED, type OpenConversation } from '../conversations/open-conversations.ts';
import type { Wire } from './wire.ts';

/** What answers an `initialize` where no frame of its own does. */
const READY: VolatileFrame = { volatile: 'status', type: 'info', id: 'STATUS$READY', message: '' };

/** What is measured of a connection. */
interface Measured {
  readonly metrics?: Pick<Metrics, 'delivered'>;
  readonly tracing?: Tracing | undefined;
  /** As the client's handshake named it. */
  readonly traceparent?: string | undefined;
}

export interface ConnectionOptions extends ClientSessionOptions, Measured {
  readonly wire: Wire;
  readonly dialect: Dialect;
  readonly conversations: Conversations;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The client is sent everything and changes nothing: not what is recorded, nor whether the conversation runs. */
  readonly isWatcher?: boolean;
}

interface AttachOptions {
  readonly opens?: boolean;
  /** Of the stored events only so many, the newest. */
  readonly tail?: number | undefined;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #inbox: Inbox<() => Promise<void>>;
  readonly #stream: EventStream;
  readonly #session: ClientSession;
  #isTaking = false;
  #conversationId: string | undefined;
  #attached: Promise<unknown> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = new ClientSession(options);
    this.#inbox = new Inbox(options.wire);
    this.#stream = new EventStream({ ...options, send: (frames) => this.#send(frames) });
  }

  get conversationId(): string | undefined {
    return this.#conversationId;
  }

  greet(): void {
    this.#send(this.#options.dialect.greeting);
  }

  /**
   * Begins to send every event with id ≥ `from`. A client that opens a stopped conversation starts it again; one that
   * reconnects does not, because that would undo the stop. Resolves with an error when the conversation does not exist or the storage
   * failed. Never rejects. The client's frames wait meanwhile.
   */
  attach(conversationId: string, from: number, { opens = from === 0, tail }: AttachOptions = {}): Promise<CatalogError | undefined> {
    const attaching = this.#attach(conversationId, { from, tail }, opens).catch((cause: unknown) => this.#failed(cause, conversationId));
    this.#attached = attaching;
    return attaching;
  }

  /** `attach` for a client that cannot continue without it: a failure is sent to the client, and the wire is closed. */
  async begin(conversationId: string, from: number, tail?: number): Promise<void> {
    const error = await this.attach(conversationId, from, { tail });
    if (error) this.#end(error);
  }

  async #attach(conversationId: string, cursor: Cursor, opens: boolean): Promise<CatalogError | undefined> {
    const { conversations, wire, isWatcher, by } = this.#options;
    if (by?.userId !== undefined && !(await conversations.visibility.sees(by, conversationId)))
      return catalogError('CONVERSATION_NOT_FOUND', conversationId.slice(0, 100));
    void this.#leaveWhenHidden(conversationId);
    wire.sendVolatile({ volatile: 'replay', phase: 'begin' });
    const isThere = isWatcher || (await conversations.start(conversationId, { unlessStopped: !opens }));
    const held = isThere ? await conversations.enter(conversationId) : undefined;
    if (!held) return catalogError('CONVERSATION_NOT_FOUND', conversationId.slice(0, 100));
    this.#conversationId = conversationId;
    const show = (frame: VolatileFrame) => this.#stream.show(frame);
    const unwatch = held.open.watch(show);
    const isAnswerer = wire.carriesVolatile && !isWatcher;
    const unattend = isAnswerer ? conversations.questions.attend(conversationId) : undefined;
    // When the store fails, the stream reports it.
    if (wire.carriesVolatile) {
      conversations.questions.show(conversationId, show).catch(() => undefined);
      conversations.delegated.show(conversationId, show).catch(() => undefined);
    }
    const leave = () => {
      unwatch();
      unattend?.();
      held.release();
    };
    if (wire.closed.aborted) leave();
    else void this.#follow(held.open, cursor).finally(leave);
    return undefined;
  }

  /** From who sees it no more it is hidden at once. */
  async #leaveWhenHidden(id: string): Promise<void> {
    const { conversations, wire, by } = this.#options;
    if (by?.userId === undefined) return;
    await conversations.visibility.hidden(by, id, wire.closed);
    if (!wire.closed.aborted) this.#end(catalogError('CONVERSATION_NOT_FOUND', id.slice(0, 100)));
  }

  /** For a client that waits for the server: begins its conversation, unless it has one. */
  createConversation(): void {
    this.#add(() => this.#createConversation());
  }

  /** Frames that arrive from now on wait for the promise, as they do for an attachment. */
  holdFrames(until: Promise<unknown>): void {
    this.#attached = until;
  }

  /** A frame as it was parsed from JSON, and how many bytes it was. */
  receive(frame: unknown, bytes = 0): void {
    this.#add(() => this.#take(this.#options.dialect.decode(frame)), bytes);
  }

  /** A frame that the caller has decoded. */
  receiveDecoded(decoded: Decoded): void {
    this.#add(() => this.#take(decoded));
  }

  #add(step: () => Promise<void>, bytes = 0): void {
    if (!this.#inbox.add(step, bytes)) return this.#end(catalogError('TOO_MANY_REQUESTS'));
    if (!this.#isTaking) void this.#takeFrames();
  }

  /** Something arrived that is no frame at all. */
  refuse(error: CatalogError): void {
    this.#send([this.#options.dialect.encodeError(error, this.#options.clock.now().toISOString())]);
  }

  async #follow(open: OpenConversation, cursor: Cursor): Promise<void> {
    const { wire } = this.#options;
    const signal = AbortSignal.any([wire.closed, open.ended]);
    try {
      await this.#stream.follow(open, cursor, signal);
    } catch (cause) {
      if (!signal.aborted) return this.#end(this.#failed(cause, open.conversation.id));
    }
    if (wire.closed.aborted) return;
    const reason: unknown = open.ended.reason;
    if (isCatalogError(reason) && reason.code === MOVED.code)
      return wire.close('another server goes on with the conversation', { invitesBack: true });
    if (isCatalogError(reason)) this.refuse(reason);
    wire.close('the conversation was closed');
  }

  /** Sends the error and disconnects the client, which may reconnect when the fault is fixed. */
  #end(error: CatalogError): void {
    const { wire } = this.#options;
    if (error.code === MOVED.code) return wire.close(error.message, { invitesBack: true });
    this.refuse(error);
    wire.close(error.message);
  }

  #failed(cause: unknown, conversation: string | undefined): CatalogError {
    this.#options.logger.error({ err: cause, conversation }, 'a conversation could not be shown to a client');
    return failureFor(cause);
  }

  #send(frames: readonly Frame[]): void {
    const { wire, dialect } = this.#options;
    const named = dialect.replay?.namesConversation && this.#conversationId !== undefined && { conversation_id: this.#conversationId };
    for (const frame of frames) wire.send(named ? { ...frame, ...named } : frame);
  }

  async #takeFrames(): Promise<void> {
    const { wire, logger } = this.#options;
    this.#isTaking = true;
    await this.#attached;
    while (!this.#inbox.isEmpty && !wire.closed.aborted) {
      const step = this.#inbox.take();
      try {
        await step();
      } catch (cause) {
        logger.error({ err: cause, conversation: this.#conversationId }, 'a frame could not be handled');
        this.refuse(failureFor(cause));
      }
      await this.#stream.untilTaken(wire.closed);
    }
    this.#isTaking = false;
  }

  async #take(decoded: Decoded): Promise<void> {
    switch (decoded.type) {
      case 'error':
        return this.refuse(decoded.error);
      case 'answer':
        return this.#send(decoded.frames(this.#options.clock.now().toISOString()));
      case 'initialize':
        return this.#initialize(decoded);
      case 'start':
      case 'action':
        return this.#submit(decoded.action);
    }
  }

  /**
   * Before there is a conversation it says how to create one, at once when the request has to be checked. Afterwards it updates the
   * model and its key.
   */
  async #initialize(decoded: Initialize): Promise<void> {
    const { dialect, isWatcher } = this.#options;
    const answer = dialect.greeting.length > 0 ? dialect.greeting : dialect.encodeVolatile(READY);
    if (isWatcher) return this.#send(answer);
    const refusal = await this.#session.initialize(decoded, this.#conversationId);
    if (refusal) return this.refuse(refusal);
    const isCreated = this.#conversationId === undefined && this.#session.wantsAnswerAtOnce;
    const error = isCreated ? await this.#makeConversation() : undefined;
    if (error) this.refuse(error);
    else this.#send(answer);
  }

  async #submit(action: ParsedAction): Promise<void> {
    if (this.#options.isWatcher) return this.refuse(catalogError('READ_ONLY'));
    const error = this.#conversationId === undefined ? await this.#conversationFor(action) : undefined;
    if (error) return this.refuse(error);
    const { conversations, tracing, traceparent, by } = this.#options;
    const submit = () => conversations.submit(this.#conversationId!, action, { by });
    const result = await (tracing ? tracing.frame(traceparent, action.action, submit) : submit());
    if (!result.ok) return this.refuse(result.error);
    // A repeated action's event is behind the cursor already, or will still be sent.
    if (result.isRepeated && result.event.id < this.#stream.nextId) this.#send(this.#options.dialect.encode(result.event, 'live'));
  }

  async #conversationFor(action: ParsedAction): Promise<CatalogError | undefined> {
    if (action.action === 'change_agent_state') return catalogError('ILLEGAL_STATE', 'no task was started yet');
    return this.#makeConversation();
  }

  async #createConversation(): Promise<void> {
    const error = this.#conversationId === undefined ? await this.#makeConversation() : undefined;
    if (error) this.refuse(error);
  }

  async #makeConversation(): Promise<CatalogError | undefined> {
    const created = await this.#session.create();
    if (!created.ok) return created.error;
    const error = await this.attach(created.record.id, 0);
    if (error) this.#end(error);
    return error;
  }
}

function isCatalogError(reason: unknown): reason is CatalogError {
  return typeof reason === 'object' && reason !== null && 'messageId' in reason;
}
