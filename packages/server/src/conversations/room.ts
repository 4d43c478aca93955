/**
 * Owns one open conversation on behalf of everybody who looks at it, and the frames the server itself announces to them.
 *
 * R1  A room is closed only when nobody holds a lease and the agent has nothing to do, or waits for a user's confirmation.
 * R2  `ended` fires once: deleted, stopped or the server is leaving; its reason is a `CatalogError` or undefined.
 */
import { awaitsConfirmation, type Conversation } from '@tendon/core';
import { ChangeAgentStateAction, isActive, type CatalogError, type VolatileFrame } from '@tendon/protocol';

export type FrameListener = (frame: VolatileFrame) => void;

/** Called when the first client looks at a room; what it returns, when the last one has left. */
export type OnLooked = (room: Room) => () => void;

export class Room {
  readonly conversation: Conversation;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<FrameListener>();
  #leases = 0;
  #idleSince: number;
  readonly #onLooked: OnLooked | undefined;
  #unattended: (() => void) | undefined;

  constructor(conversation: Conversation, now: number, onLooked?: OnLooked) {
    this.conversation = conversation;
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

  /** Holds the room open until the returned function is called; calling it again does nothing. */
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
  async stopAgent(deadline: AbortSignal): Promise<void> {
    const { log } = this.conversation;
    const result = await this.conversation.submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
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
  async close(reason?: CatalogError): Promise<void> {
    this.#ended.abort(reason);
    this.#listeners.clear();
    await this.conversation.close();
  }
}
