import type { SourcedDraft } from '@tendon/core';
import { draftFromJson, type EventSource } from '@tendon/protocol';
import { currentJson } from './current-json.ts';

/** One event as it goes into the log. */
export interface ImportedEvent {
  readonly draft: SourcedDraft;
  /** UTC ISO 8601 with `Z`; `undefined`: the file does not say. */
  readonly timestamp: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Meta fields and what only this server may set. */
const OWN: ReadonlySet<string> = new Set(['id', 'timestamp', 'source', 'executor', '__proto__']);

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
