/**
 * One conversation's log together with its fold. It owns the fold and the order of this process's appends; it does not own the log.
 *
 * Invariants
 * FL1  `state` is the fold of every durable event, in order, without gaps; this process has read only the events after `from`.
 * FL2  A decision is taken on the state it is appended to: appends run one after the other, and a writer in another process that was
 *      faster makes the decision be taken again.
 * FL3  What is appended has been masked.
 * FL4  Agent states follow each other as the transition table says: a batch with another step is not appended.
 */
import { canTransition, IllegalTransition, isObservation, type AgentState, type Event } from '@tendon/protocol';
import type { Mask } from '@tendon/protocol/masking';
import { Mutex } from '@tendon/protocol/async';
import { AppendConflict, type EventLog, type SourcedDraft } from '../log/event-log.ts';
import { readPages } from '../log/read-pages.ts';
import { foldEngine, INITIAL_ENGINE_STATE, type EngineState } from './engine-state.ts';
import type { WriteRetry } from './write-retry.ts';

/** Drafts for the state as it is; none when there is nothing (any more) to append. Pure: it may be asked several times. */
export type Decide = (state: EngineState) => readonly SourcedDraft[];

export interface FoldedLog {
  readonly state: EngineState;
  /**
   * Resolves with the durable events; empty when the decision was to append none. Waits while the storage has no room,
   * until the conversation closes; rejects with the storage's error, or with `IllegalTransition`.
   */
  append(decide: Decide): Promise<readonly Event[]>;
  /** The same, but rejects at once when there is no room. */
  tryAppend(decide: Decide): Promise<readonly Event[]>;
  /** Called with every event after it was folded; the returned function ends it. */
  onEvent(listener: (event: Event) => void): () => void;
}

export interface FoldOptions {
  readonly mask: Mask;
  readonly retry: WriteRetry;
  /** The fold of the log's first events, which are then not read. Default: there is none. */
  readonly from?: EngineState | undefined;
  /** Called with each event that is read before this resolves. */
  readonly onRead?: (event: Event) => void;
}

export async function foldLog(log: EventLog, { mask, retry, from = INITIAL_ENGINE_STATE, onRead }: FoldOptions): Promise<FoldedLog> {
  let state = from;
  const listeners = new Set<(event: Event) => void>(onRead ? [onRead] : []);
  const writing = new Mutex();

  function fold(events: readonly Event[]): void {
    for (const event of events) {
      if (event.id < state.conversation.nextId) continue;
      state = foldEngine(state, event);
      for (const listener of listeners) listener(event);
    }
  }

  async function catchUp(): Promise<void> {
    for await (const events of readPages(log, state.conversation.nextId)) fold(events);
  }

  /** The other writer's events may not be durable yet: then the first of them is waited for. */
  async function anotherWriter(): Promise<void> {
    if (log.nextId <= state.conversation.nextId) {
      const following = new AbortController();
      for await (const _event of log.follow(state.conversation.nextId, { signal: following.signal })) break;
      following.abort();
    }
    await catchUp();
  }

  async function appendDecided(decide: Decide): Promise<readonly Event[]> {
    for (;;) {
      const drafts = decide(state);
      if (drafts.length === 0) return [];
      checkTransitions(state.conversation.agentState, drafts);
      try {
        const events = await log.append(drafts.map(mask.draft), { expectedId: state.conversation.nextId });
        fold(events);
        return events;
      } catch (error) {
        if (!(error instanceof AppendConflict)) throw error;
        await anotherWriter();
      }
    }
  }

  await catchUp();
  if (onRead) listeners.delete(onRead);
  return {
    get state() {
      return state;
    },
    // Between two attempts other writes get their turn: this one may be too large, and theirs small enough.
    append: (decide) => retry.untilWritten(() => writing.run(() => appendDecided(decide))),
    tryAppend: (decide) => writing.run(() => appendDecided(decide)),
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Throws `IllegalTransition` for the first step that the table does not list. */
function checkTransitions(from: AgentState, drafts: readonly SourcedDraft[]): void {
  let current = from;
  for (const draft of drafts) {
    if (!isObservation(draft) || draft.observation !== 'agent_state_changed') continue;
    const next = draft.extras.agent_state;
    if (!canTransition(current, next)) throw new IllegalTransition(current, next);
    current = next;
  }
}
