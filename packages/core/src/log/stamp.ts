import { randomBytes } from 'node:crypto';
import { isUnknown, type Event } from '@tendon/protocol';
import type { SourcedDraft } from './event-log.ts';

/** Makes the event of a draft. Meta fields come first and always win: a draft made from a client's JSON may carry an `id` of its own. */
export function stamp(draft: SourcedDraft, id: number, timestamp: string): Event {
  const meta = { id, timestamp, source: draft.source };
  return Object.assign({ ...meta }, draft, meta) as Event;
}

/** `now`, unless the clock went back: timestamps of a log never decrease. ISO strings of one format order like the times. */
function timestampAfter(last: string, now: Date): string {
  const timestamp = now.toISOString();
  return timestamp < last ? last : timestamp;
}

/** One for each of `count` drafts: those an import brings, or `now` for all. They never decrease (EL5). */
export function timestampsAfter(last: string, now: Date, count: number, given?: readonly string[]): readonly string[] {
  const current = timestampAfter(last, now);
  let latest = last;
  return Array.from({ length: count }, (_, index) => {
    const requested = given?.[index];
    latest = requested === undefined ? (current < latest ? latest : current) : timestampAfter(latest, new Date(requested));
    return latest;
  });
}

/**
 * The JSON of a draft without meta fields, as it is stored. What was set beside an unknown event's JSON (its `cause`) is put into it,
 * so that the stored event is the same as the live one.
 */
export function settleDraft(draft: SourcedDraft): SourcedDraft {
  if (!isUnknown(draft)) return draft;
  const { unknown, raw, source, ...extensions } = draft;
  const whole = { ...raw, ...extensions };
  return { unknown, raw: whole, source, ...(typeof whole.cause === 'number' && { cause: whole.cause }) };
}

/** Deeper JSON than this is refused: nobody means it, and other recursion would not survive it. */
const MAX_JSON_DEPTH = 256;

/**
 * Freezes a JSON value wholly and in place, without allocating.
 * Throws TypeError on what JSON cannot carry (functions, bigints, instances of classes, NaN, too deep nesting): that is the caller's error.
 */
export function deepFreeze<T>(value: T, depth = 0): T {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
    return value;
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} is not JSON`);
  if (depth > MAX_JSON_DEPTH) throw new TypeError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) deepFreeze(value[i], depth + 1);
  else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw new TypeError('an instance of a class is not JSON');
    for (const key in value) deepFreeze(value[key], depth + 1);
  }
  return Object.freeze(value);
}

/** An epoch that no opening of a storage has had before. */
export function randomEpoch(): string {
  return randomBytes(8).toString('hex');
}
