/**
 * The fold of a log as text: the engine's state, and where the model's view begins. An opening that has it reads the newest events only.
 * All of it is in the log as well; when it is unusable for any reason, the log is folded from its beginning instead.
 */
import { INITIAL_STATE, isAction, type Action, type ConversationState } from '@tendon/protocol';
import type { EventLog, LogSnapshot } from '../log/event-log.ts';
import { readById } from '../log/read-pages.ts';
import type { ViewOutline } from '../prompt/view-outline.ts';
import { INITIAL_ENGINE_STATE, type EngineState } from './engine-state.ts';
import { restore, store } from './storable.ts';

/**
 * Raise this when events are folded, or entries of the view are made, differently. engine-snapshot.test.ts detects it.
 * @internal
 */
export const FOLD_VERSION = 3;

/** Snapshots with another value are not read: it changes by itself with an added or removed field. */
const SHAPE = [FOLD_VERSION, ...Object.keys(INITIAL_ENGINE_STATE).toSorted(), ...Object.keys(INITIAL_STATE).toSorted()].join(' ');

export interface Fold {
  readonly state: EngineState;
  readonly view: ViewOutline;
}

interface StoredFold {
  readonly shape: string;
  /** Pending actions by their ids: they can be large, and are in the log. */
  readonly state: Omit<EngineState, 'conversation'> & {
    readonly conversation: Omit<ConversationState, 'pending'> & { readonly pending: readonly number[] };
  };
  readonly view: ViewOutline;
}

export function snapshotOf({ state, view }: Fold): LogSnapshot {
  const { pending, ...conversation } = state.conversation;
  const stored: StoredFold = {
    shape: SHAPE,
    state: { ...state, conversation: { ...conversation, pending: pending.map(({ id }) => id) } },
    view,
  };
  return { nextId: conversation.nextId, text: store(stored) };
}

/** The contents of the log's snapshot; `undefined` when it has no usable one. Never rejects. */
export async function readSnapshot(log: EventLog): Promise<Fold | undefined> {
  try {
    const snapshot = await log.snapshot();
    if (!snapshot || snapshot.nextId > log.nextId) return undefined;
    const { shape, state, view } = restore(snapshot.text) as StoredFold;
    if (shape !== SHAPE || state.conversation.nextId !== snapshot.nextId) return undefined;
    const events = await readById(log, state.conversation.pending);
    const pending = state.conversation.pending.flatMap((id): Action[] => {
      const event = events.get(id);
      return event && isAction(event) ? [event] : [];
    });
    if (pending.length !== state.conversation.pending.length) return undefined;
    return { state: { ...state, conversation: { ...state.conversation, pending } }, view };
  } catch {
    // An error of the storage itself comes up again at the next read.
    return undefined;
  }
}
