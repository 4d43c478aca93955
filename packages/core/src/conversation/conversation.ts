import type { CatalogError, ConversationState, DeltaFrame, Event, ParsedAction, VolatileFrame } from '@tendon/protocol';
import type { EventLog, SourcedDraft } from '../log/event-log.ts';

/** `isRepeated`: the action had been sent before, and nothing was appended. */
export type SubmitResult =
  | { readonly ok: true; readonly event: Event; readonly isRepeated?: true }
  | { readonly ok: false; readonly error: CatalogError };

/** Log + state. */
interface ConversationView {
  readonly id: string;
  readonly log: EventLog;
  /** The fold of everything durable. */
  readonly state: ConversationState;
  /** Work is under way, or pending in the log: a turn, an action, a requested condensation. */
  readonly isAtWork: boolean;
  /** The answer that the model is writing: one frame for each part that has begun, with its text so far. */
  readonly partialAnswer: readonly DeltaFrame[];
  /**
   * Volatile frames from now on, after the last status so far, what a running action has printed and the answer so far; the returned
   * function ends it.
   */
  watch(listener: (frame: VolatileFrame) => void): () => void;
}

/** Log + state + at most one running loop. */
export interface Conversation extends ConversationView {
  /**
   * A client's action: checked against the state, appended, and answered with the event or a catalogued error. Wakes the loop.
   * An action whose `client_id` the log already has is answered with the stored event.
   * `message` and `start` begin or go on with a task; `change_agent_state` is a request; runnable actions run in the sandbox as the user's.
   * `about`: the event that a verdict or a reply is an answer to; refused when that does not wait when it is appended.
   */
  submit(action: ParsedAction, about?: number): Promise<SubmitResult>;
  /** Appends what happened around the agent, under the id that is given; for the host, not for clients. Rejects with the storage's error. */
  note(drafts: (firstId: number) => readonly SourcedDraft[]): Promise<void>;
  /**
   * The policy was changed, as the notice says: what waits and is allowed by now runs, the rest goes on waiting. False when it was closed
   * meanwhile, and nothing is in the log. Rejects with the storage's error.
   */
  judgeAgain(notice: SourcedDraft): Promise<boolean>;
  /** Appends `awaiting_user_input` when the agent was stopped; otherwise nothing. Rejects with the storage's error. */
  reopen(): Promise<void>;
  /** Starts the loop if the log says there is something to do; resolves at once. Called after opening, e.g. on a restart. */
  wake(): void;
  /**
   * Ends the loop without touching the agent's state (a server that leaves); pending actions stay pending in the log. Until `deadline`
   * an answer that the model is giving is waited for, and stored. Default: nothing is waited for.
   */
  close(deadline?: AbortSignal): Promise<void>;
}
