/**
 * Who may be interrupted. It owns the controllers of what is running now.
 *
 * Invariants
 * A1  `closing` ends the waiting of this process and nothing else: what runs in the sandbox goes on.
 * A2  Ending the turn never touches an action; cancelling the actions never touches the log.
 */
export interface Aborts {
  /** Aborted when the conversation is closed. */
  readonly closing: AbortSignal;
  /** A signal for the model call that begins now; it also aborts with `closing`. */
  beginTurn(): AbortSignal;
  /** A signal for an action that begins now, to be given back when it ended. */
  beginAction(): { readonly signal: AbortSignal; cancel(): void; end(): void };
  endTurn(): void;
  cancelActions(): void;
  close(): void;
}

export function createAborts(): Aborts {
  const closing = new AbortController();
  const actions = new Set<AbortController>();
  let turn = new AbortController();
  return {
    closing: closing.signal,
    beginTurn() {
      turn = new AbortController();
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
