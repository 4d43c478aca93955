import type { SourcedDraft } from '@tendon/core';
import { draftFromJson, type EventSource, ACTIONS, currentArgs, type ActionKind } from '@tendon/protocol';

/** One event as it goes into the log. */
export interface ImportedEvent {
  readonly draft: SourcedDraft;
  /** UTC ISO 8601 with `Z`; `undefined`: the file does not say. */
  readonly timestamp: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Meta fields and what only this server may set. */
const OWN: ReadonlySet<string> = new Set(['id', 'timestamp', 'source', 'executor', 'reasoning', '__proto__']);

/** The event of one stored JSON object, whatever its release. Total: an unknown kind keeps every key. */
export function storedEvent(json: Json): ImportedEvent {
  const entries = Object.entries(currentJson(json)).filter(([key, value]) => !OWN.has(key) && value !== null);
  const raw = Object.fromEntries(entries);
  const known = draftFromJson(Object.fromEntries(entries.filter(([key]) => key !== 'message')));
  const draft = 'unknown' in known ? draftFromJson(raw) : known;
  return { draft: { ...draft, source: sourceOf(json) } as SourcedDraft, timestamp: instant(json.timestamp) };
}

/** Stands where an event is lost, so that the ids of those after it stay. */
export function lostEvent(id: number, why: string): ImportedEvent {
  const content = `[event ${id} was not imported: ${why}]`;
  const draft: SourcedDraft = { source: 'environment', observation: 'error', content, extras: { error_id: 'STORAGE$DAMAGED' } };
  return { draft, timestamp: undefined };
}

/** A time without a zone is this machine's local time: that is what the original wrote. */
function instant(value: unknown): string | undefined {
  const date = typeof value === 'string' && value !== '' ? new Date(value) : undefined;
  return date && !Number.isNaN(date.getTime()) && date.getTime() >= 0 ? date.toISOString() : undefined;
}

function sourceOf({ source, observation }: Json): EventSource {
  const name = String(source).toLowerCase();
  if (name === 'user' || name === 'agent' || name === 'environment') return name;
  return observation === undefined ? 'agent' : 'environment';
}

/** The stored events of old releases in the spelling of today. Pure and total; nothing but what is renamed is touched. */
function currentJson(json: Json): Json {
  if (isKnown(json.action) && isObject(json.args)) return { ...json, args: currentArgs(json.action, json.args) };
  if (json.observation === 'run' && isObject(json.extras)) return { ...json, extras: withMetadata(json.extras) };
  return json;
}

function isKnown(kind: unknown): kind is ActionKind {
  return typeof kind === 'string' && Object.hasOwn(ACTIONS, kind);
}

/** Until 0.19 the exit code stood beside the command. The old keys stay, for clients of that time. */
function withMetadata(extras: Json): Json {
  if (isObject(extras.metadata) || !Number.isInteger(extras.exit_code)) return extras;
  const interpreter = typeof extras.interpreter_details === 'string' ? extras.interpreter_details : '';
  return { ...extras, metadata: { exit_code: extras.exit_code, ...(interpreter && { py_interpreter_path: interpreter }) } };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
