/** Owns the open conversations: opens one on first need, closes it when nobody needs it. */
import { type Clock, type Conversation, awaitsConfirmation } from '@tendon/core';
import { catalogError, type CatalogError, ChangeAgentStateAction, type EventAuthor, isActive, type VolatileFrame } from '@tendon/protocol';
import { rootIdOf, type StoredConversation, summaryOf } from './conversation-records.ts';
import type { ConversationRegistry } from './conversation-registry.ts';
import type { Logger } from '../platform/logger.ts';

export interface OpenConversationsOptions {
  readonly registry: Pick<ConversationRegistry, 'records' | 'open'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly open: (record: StoredConversation) => Promise<Conversation>;
  /** Called before; rejects where another server has the conversation. Default: none has. */
  readonly claim?: (record: StoredConversation) => Promise<void>;
  /** A conversation that nobody needed for so long is closed; default 30 s. */
  readonly idleMs?: number;
  readonly onLooked?: OnLooked;
  /** Called when one has left memory. */
  readonly onClosed?: (id: string) => void;
}

/** Why a conversation ends here that another server goes on with. */
export const MOVED: CatalogError = catalogError('CONVERSATION_MOVED');

const IDLE_MS = 30_000;
const CLOSED_TOGETHER = 64;

export class OpenConversations {
  readonly #options: OpenConversationsOptions;
  readonly #idleMs: number;
  /** Open and opening ones; `#open` holds those that are there already, `#closing` what must end before the next opening. */
  readonly #entries = new Map<string, Promise<OpenConversation | undefined>>();
  readonly #open: Map<string, OpenConversation>;
  readonly #closing = new Map<string, Promise<void>>();
  readonly #sweeper: NodeJS.Timeout;
  #isClosed = false;
  #isClosingIdle = false;

  constructor(options: OpenConversationsOptions) {
    this.#options = options;
    this.#open = options.registry.open;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#sweeper = setInterval(() => void this.#closeIdle(), Math.max(10, this.#idleMs / 2));
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): OpenConversation | undefined {
    return this.#open.get(id);
  }

  /** Open, or about to be. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** The conversation that is open or about to be. */
  async opening(id: string): Promise<OpenConversation | undefined> {
    return this.#entries.get(id)?.catch(() => undefined);
  }

  /**
   * Held until `release`; `undefined` only when there is no such conversation. One that closes during the wait is opened again.
   * Rejects when the log cannot be opened, or the server is shutting down.
   */
  async enter(id: string): Promise<{ readonly open: OpenConversation; readonly release: () => void } | undefined> {
    for (;;) {
      if (this.#isClosed) throw new Error('the server is leaving');
      const open = await (this.#entries.get(id) ?? this.#begin(id));
      if (!open?.ended.aborted) return open && { open, release: open.lease(() => this.#now()) };
    }
  }

  /** From the first tick on, a caller that enters gets a new one, which opens when this one has ended. */
  close(open: OpenConversation, reason?: CatalogError, deadline?: AbortSignal): Promise<void> {
    const { id } = open.conversation;
    if (this.#open.get(id) === open) {
      this.#open.delete(id);
      this.#entries.delete(id);
    }
    const closing = this.#close(open, reason, deadline).finally(() => {
      if (this.#closing.get(id) === closing) this.#closing.delete(id);
    });
    this.#closing.set(id, closing);
    return closing;
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    const all = await Promise.allSettled(this.#entries.values());
    await Promise.allSettled(all.map((result) => (result.status === 'fulfilled' && result.value ? this.close(result.value) : undefined)));
    await Promise.allSettled(this.#closing.values());
  }

  #begin(id: string): Promise<OpenConversation | undefined> {
    const opening = this.#make(id);
    this.#entries.set(id, opening);
    // Nobody else takes it out before it has come to an open conversation.
    opening.then(
      (open) => open ?? this.#entries.delete(id),
      () => this.#entries.delete(id),
    );
    return opening;
  }

  /** `undefined`: there is no such conversation, or it was deleted meanwhile. */
  async #make(id: string): Promise<OpenConversation | undefined> {
    await this.#closing.get(id)?.catch(() => undefined);
    const record = await this.#options.registry.records.get(id);
    if (!record) return undefined;
    await this.#options.claim?.(record);
    const open = new OpenConversation(await this.#options.open(record), {
      rootId: rootIdOf(record),
      now: this.#now(),
      onLooked: this.#options.onLooked,
    });
    this.#open.set(id, open);
    return open;
  }

  async #close(open: OpenConversation, reason: CatalogError | undefined, deadline: AbortSignal | undefined): Promise<void> {
    await open.close(reason, deadline).finally(() => this.#options.onClosed?.(open.conversation.id));
    const summary = summaryOf(open.conversation.state);
    await this.#options.registry.records.change(open.conversation.id, () => ({ summary }));
  }

  /** Those that went idle together are closed `CLOSED_TOGETHER` at a time, so that they share commits. */
  async #closeIdle(): Promise<void> {
    if (this.#isClosingIdle) return;
    this.#isClosingIdle = true;
    const all = [...this.#open];
    for (let at = 0; at < all.length; at += CLOSED_TOGETHER) {
      await Promise.all(all.slice(at, at + CLOSED_TOGETHER).map(([id, open]) => this.#closeIfIdle(id, open)));
    }
    this.#isClosingIdle = false;
  }

  async #closeIfIdle(id: string, open: OpenConversation): Promise<void> {
    if (this.#open.get(id) !== open || !open.isIdle(this.#now(), this.#idleMs)) return;
    // Both begin in this tick: a mark that a new submit sets is stored after this one is taken away.
    const results = await Promise.allSettled([this.close(open), this.#options.registry.records.unmark(id)]);
    for (const result of results) {
      if (result.status === 'rejected')
        this.#options.logger.warn({ err: result.reason, conversation: id }, 'closing an idle conversation failed');
    }
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

export type FrameListener = (frame: VolatileFrame) => void;

/** Called when the first client looks at it; what it returns, when the last one has left. */
export type OnLooked = (open: OpenConversation) => () => void;

interface OpenedAs {
  readonly rootId: string;
  readonly now: number;
  readonly onLooked?: OnLooked | undefined;
}

/**
 * Owns one open conversation on behalf of everybody who looks at it, and the frames the server itself announces to them.
 *
 * OPE1  It is closed only when nobody holds a lease and the agent has nothing to do, or waits for a user's confirmation.
 * OPE2  `ended` fires once: deleted, stopped or the server is leaving; its reason is a `CatalogError` or undefined.
 */
export class OpenConversation {
  readonly conversation: Conversation;
  /** The conversation that it is a part of the work of; itself, where nobody delegated it. */
  readonly rootId: string;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<FrameListener>();
  #leases = 0;
  #idleSince: number;
  readonly #onLooked: OnLooked | undefined;
  #unattended: (() => void) | undefined;

  constructor(conversation: Conversation, { rootId, now, onLooked }: OpenedAs) {
    this.conversation = conversation;
    this.rootId = rootId;
    this.#idleSince = now;
    this.#onLooked = onLooked;
  }

  /** Aborts when nobody may look any longer; `reason` says why when clients should know. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get leases(): number {
    return this.#leases;
  }

  /** Holds it open until the returned function is called; calling it again does nothing. */
  lease(clock: () => number): () => void {
    this.#leases += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#leases -= 1;
      this.#idleSince = clock();
    };
  }

  /** Asks the agent to stop and waits until the log says that it has. */
  async stopAgent(deadline: AbortSignal, author?: EventAuthor): Promise<void> {
    const { log } = this.conversation;
    const result = await this.conversation.submit({
      ...ChangeAgentStateAction.create({ agent_state: 'stopped' }),
      ...(author && { author }),
    });
    if (!result.ok) return;
    for await (const _event of log.follow(result.event.id, { signal: deadline })) {
      if (this.conversation.state.agentState === 'stopped') return;
    }
  }

  isBusy(): boolean {
    const { isAtWork, state } = this.conversation;
    return isAtWork || isActive(state.agentState) || state.pending.length > 0;
  }

  /** Whether it could be closed at `now` without anybody noticing. */
  isIdle(now: number, idleMs: number): boolean {
    if (this.#leases > 0 || now - this.#idleSince < idleMs) return false;
    return !this.isBusy() || this.#waitsForWord();
  }

  /** Only a user's decision is missing: no pending action was dispatched, so the log has everything. */
  #waitsForWord(): boolean {
    const { isAtWork, state } = this.conversation;
    return !isAtWork && state.agentState === 'awaiting_user_confirmation' && state.pending.every(awaitsConfirmation);
  }

  /** Volatile frames from now on; the returned function ends it. */
  watch(listener: FrameListener): () => void {
    this.#listeners.add(listener);
    const unwatch = this.conversation.watch(listener);
    if (this.#listeners.size === 1) this.#unattended = this.#onLooked?.(this);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#unattended?.();
      unwatch();
    };
  }

  /** A frame of the server's own. */
  announce(frame: VolatileFrame): void {
    for (const listener of this.#listeners) listener(frame);
  }

  /** Sends everybody away, then ends the loop; the log and the sandbox stay as they are. */
  async close(reason?: CatalogError, deadline?: AbortSignal): Promise<void> {
    if (deadline) await this.conversation.close(deadline);
    this.#ended.abort(reason);
    this.#listeners.clear();
    if (!deadline) await this.conversation.close();
  }
}
