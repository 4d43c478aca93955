import { aborted } from '@tendon/protocol/async';

interface TurnAborts {
  /** A signal for the model call that begins now; it also aborts with `closing`. */
  beginTurn(): AbortSignal;
  /** The step that began it is over. */
  turnOver(): void;
  /** Ends the call that is under way. */
  endTurn(): void;
}

/**
 * Who may be interrupted. It owns the controllers of what is running now.
 *
 * Invariants
 * AB1  `closing` ends the waiting of this process and nothing else: what runs in the sandbox goes on.
 * AB2  Ending the turn never touches an action; cancelling the actions never touches the log.
 * AB3  After `leave` no step begins, and nothing that runs is interrupted.
 */
export interface Aborts extends TurnAborts {
  /** Aborted when the conversation is closed. */
  readonly closing: AbortSignal;
  /** The loop begins no step any more: another process goes on. */
  readonly isLeaving: boolean;
  /** Resolves when the model's turn that is under way has ended, or `deadline` aborts; from then on `isLeaving`. */
  leave(deadline: AbortSignal): Promise<void>;
  /** A signal for an action that begins now, to be given back when it ended. */
  beginAction(): { readonly signal: AbortSignal; cancel(): void; end(): void };
  cancelActions(): void;
  close(): void;
}

export function createAborts(): Aborts {
  const closing = new AbortController();
  const actions = new Set<AbortController>();
  let turn = new AbortController();
  let over: PromiseWithResolvers<void> | undefined;
  let isLeaving = false;
  return {
    closing: closing.signal,
    get isLeaving() {
      return isLeaving;
    },
    async leave(deadline) {
      isLeaving = true;
      if (over && !deadline.aborted) await Promise.race([over.promise, aborted(deadline)]);
    },
    turnOver() {
      over?.resolve();
      over = undefined;
    },
    beginTurn() {
      turn = new AbortController();
      over ??= Promise.withResolvers();
      if (closing.signal.aborted) turn.abort();
      return turn.signal;
    },
    beginAction() {
      const action = new AbortController();
      actions.add(action);
      return { signal: action.signal, cancel: () => action.abort(), end: () => actions.delete(action) };
    },
    endTurn: () => turn.abort(),
    cancelActions() {
      for (const action of actions) action.abort();
    },
    close() {
      closing.abort();
      turn.abort();
    },
  };
}
