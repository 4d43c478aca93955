import {
  isAction,
  isObservation,
  isUnknown,
  type ActionDraft,
  type ActionKind,
  type AnswerReasoning,
  type Event,
  type EventAuthor,
  type EventDraft,
  type EventMeta,
  type ObservationKind,
  type ReasoningPart,
} from './event.ts';
import { ACTION_FIELDS, OBSERVATION_FIELDS } from './kind-shapes.ts';
import { ACTIONS, OBSERVATIONS } from './kinds.ts';
import { readFields } from './read-shape.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function isActionKind(kind: unknown): kind is ActionKind {
  return typeof kind === 'string' && Object.hasOwn(ACTION_FIELDS, kind);
}

function isObservationKind(kind: unknown): kind is ObservationKind {
  return typeof kind === 'string' && Object.hasOwn(OBSERVATION_FIELDS, kind);
}

/** The canonical JSON of an event. Unknown events come out as they came in, with the meta fields put back first; their own win over any in `raw`. */
export function toJson(event: Event): Record<string, unknown> {
  if (!isUnknown(event)) return event as unknown as Record<string, unknown>;
  const { raw, id, timestamp, source } = event;
  const meta = { id, timestamp, source };
  return { ...meta, ...raw, ...meta };
}

/**
 * Reads canonical JSON. Total: what is not a known kind, or does not fit its schema, is an `UnknownEvent` that keeps every key.
 * Source: anything `toJson` wrote, in this or any other version.
 */
export function fromJson(json: Readonly<Record<string, unknown>>): Event {
  const { id, timestamp, source, ...raw } = json;
  return { ...({ id, timestamp, source } as EventMeta), ...draftFromJson(raw) } as Event;
}

/** The same for an event without meta fields. What claims to be of two kinds is of none. */
export function draftFromJson(raw: Readonly<Record<string, unknown>>): EventDraft {
  const isAmbiguous = ['action', 'observation', 'unknown'].filter((key) => key in raw).length > 1;
  if (isAmbiguous || !extensionsFit(raw)) return unknownDraft(raw);
  if (isActionKind(raw.action)) {
    const args = readFields(ACTION_FIELDS[raw.action], raw.args ?? {});
    if (args) return { ...raw, args } as unknown as EventDraft;
  } else if (isObservationKind(raw.observation)) {
    const extras = readFields(OBSERVATION_FIELDS[raw.observation], raw.extras ?? {});
    if (extras && typeof (raw.content ?? '') === 'string') {
      return { ...raw, content: raw.content ?? '', extras } as unknown as EventDraft;
    }
  }
  return unknownDraft(raw);
}

/** Whether the fields beside a kind's own are of their types: folding and projecting rely on it, and the JSON may come from anybody. */
function extensionsFit({
  cause,
  timeout,
  client_id,
  author,
  executor,
  confirmation_reason,
  tool_call_metadata,
  llm_metrics,
  reasoning,
}: Readonly<Record<string, unknown>>): boolean {
  return (
    (cause ?? undefined) === (Number.isInteger(cause) ? cause : undefined) &&
    (timeout ?? undefined) === (typeof timeout === 'number' ? timeout : undefined) &&
    (client_id ?? undefined) === (typeof client_id === 'string' ? client_id : undefined) &&
    isAuthor(author ?? undefined) &&
    (executor ?? undefined) === (typeof executor === 'string' ? executor : undefined) &&
    (confirmation_reason ?? undefined) === (typeof confirmation_reason === 'string' ? confirmation_reason : undefined) &&
    typeof (tool_call_metadata ?? {}) === 'object' &&
    typeof (llm_metrics ?? {}) === 'object' &&
    isReasoning(reasoning ?? undefined)
  );
}

function isAuthor(value: unknown): value is EventAuthor | undefined {
  const { id, name } = Object(value) as Partial<EventAuthor>;
  return value === undefined || (typeof id === 'string' && typeof name === 'string');
}

function isReasoning(value: unknown): value is AnswerReasoning | undefined {
  if (value === undefined) return true;
  const { model, parts, calls } = Object(value) as Partial<AnswerReasoning>;
  const isPart = (part: unknown): boolean => {
    const { text, at, metadata } = Object(part) as Partial<ReasoningPart>;
    return typeof text === 'string' && Number.isInteger(at) && isMetadata(metadata);
  };
  return (
    typeof model === 'string' &&
    Array.isArray(parts) &&
    parts.every(isPart) &&
    isMetadata(calls) &&
    Object.values(calls ?? {}).every(isMetadata)
  );
}

function isMetadata(value: unknown): boolean {
  const isObject = (given: unknown): boolean => typeof given === 'object' && given !== null && !Array.isArray(given);
  return value === undefined || (isObject(value) && Object.values(value as object).every(isObject));
}

function unknownDraft(raw: Readonly<Record<string, unknown>>): EventDraft {
  return { unknown: true, raw, ...(typeof raw.cause === 'number' && { cause: raw.cause }) };
}

/** The friendly text that chat logs of every generation show. */
export function messageOf(event: EventDraft): string {
  if (isAction(event)) return (ACTIONS[event.action].message as (args: unknown) => string)(event.args);
  if (isObservation(event))
    return (OBSERVATIONS[event.observation].message as (extras: unknown, content: string) => string)(event.extras, event.content);
  return typeof event.raw.message === 'string' ? event.raw.message : '';
}

/** Whether a client may send this kind at all. */
export function isClientKind(draft: ActionDraft): boolean {
  if (draft.action === 'condensation') return draft.args.edits !== undefined || draft.args.undoes !== undefined;
  return draft.action !== 'system';
}
