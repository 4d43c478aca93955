/**
 * The fold of a log as text: the engine's state, and where the model's view begins. An opening that has it reads the newest events only.
 * All of it is in the log as well; when it is unusable for any reason, the log is folded from its beginning instead.
 */
import { isAction, type Action, type ConversationState } from '@tendon/protocol';
import type { EventLog, LogSnapshot } from '../log/event-log.ts';
import { readById } from '../log/read-pages.ts';
import type { ViewOutline } from '../prompt/view-outline.ts';
import { INITIAL_ENGINE_STATE, type EngineState } from './engine-state.ts';

/**
 * Raise this when events are folded, or entries of the view are made, differently. engine-snapshot.test.ts detects it.
 * @internal
 */
export const FOLD_VERSION = 11;

/** Snapshots with another value are not read: it changes by itself with an added or removed field. */
const SHAPE = [FOLD_VERSION, ...fieldsOf(INITIAL_ENGINE_STATE)].join(' ');

function fieldsOf(value: object): readonly string[] {
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, held]: [string, unknown]) =>
      Object.getPrototypeOf(held ?? 0) === Object.prototype ? [name, ...fieldsOf(held as object)] : [name],
    );
}

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

/** The same type when it can be stored; where it cannot (a function, a symbol) `never`, so that it does not compile. */
export type Storable<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends symbol | bigint | ((...args: never) => unknown)
    ? never
    : T extends ReadonlySet<infer U>
      ? ReadonlySet<Storable<U>>
      : T extends ReadonlyMap<infer K, infer V>
        ? ReadonlyMap<Storable<K>, Storable<V>>
        : { readonly [K in keyof T]: Storable<T[K]> };

/** The key of an object that encodes another value. */
const TAG = '$is';

/**
 * JSON with an encoding for the values in the fold that JSON lacks: sets, maps, `undefined`, NaN and infinite numbers.
 * @internal
 */
export function store<T>(value: T & Storable<T>): string {
  return JSON.stringify(toJson(value));
}

/**
 * Throws on text that `store` did not write; the caller must know the type.
 * @internal
 */
export function restore(text: string): unknown {
  return fromJson(JSON.parse(text));
}

function toJson(value: unknown): unknown {
  if (value === undefined) return { [TAG]: 'undefined' };
  if (typeof value === 'number' && !Number.isFinite(value)) return { [TAG]: 'number', of: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Set) return { [TAG]: 'set', of: [...value].map(toJson) };
  if (value instanceof Map) return { [TAG]: 'map', of: [...value].map(toJson) };
  const entries = Object.entries(value).map(([key, held]) => [key, toJson(held)] as const);
  // An object that has this key itself is written as a list, so that data from a log cannot pass for an encoded value.
  return entries.some(([key]) => key === TAG) ? { [TAG]: 'object', of: entries } : Object.fromEntries(entries);
}

type Tagged = { readonly [TAG]: string; readonly of: never };

const TAGGED: Readonly<Record<string, (of: never) => unknown>> = {
  undefined: () => undefined,
  number: (of: string) => Number(of),
  set: (of: readonly unknown[]) => new Set(of.map(fromJson)),
  map: (of: readonly unknown[]) => new Map(of.map(fromJson) as [unknown, unknown][]),
  object: (of: readonly (readonly [string, unknown])[]) => Object.fromEntries(of.map(([key, held]) => [key, fromJson(held)])),
};

function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromJson);
  if (!(TAG in value)) return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, fromJson(held)]));
  const { [TAG]: tag, of } = value as Tagged;
  const read = Object.hasOwn(TAGGED, tag) ? TAGGED[tag] : undefined;
  if (!read) throw new TypeError(`${tag} is no tag of a stored value`);
  return read(of);
}
