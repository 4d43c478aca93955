import type { Action } from '@tendon/protocol';
import type { Entry } from './entry.ts';
import { oldExcerpt } from './excerpt.ts';
import { summaryOf } from './make-entries.ts';

/** Leaves out what the condensation forgets and puts its summary where the first of it stood. The user's words stay; long messages become excerpts. */
export function condense(entries: readonly Entry[], condensation: Action<'condensation'>): Entry[] {
  const forgets = forgotten(condensation);
  const kept = entries.filter((entry) => !isForgotten(entry, forgets)).map((entry) => (entry.type === 'text' ? oldExcerpt(entry) : entry));
  const summary = summaryOf(condensation);
  if (!summary) return kept;
  const first = entries.findIndex((entry) => isForgotten(entry, forgets));
  kept.splice(first === -1 ? kept.length : first, 0, summary);
  return kept;
}

function forgotten({ args }: Action<'condensation'>): (id: number) => boolean {
  const ids = new Set(args.forgotten_event_ids ?? []);
  const { forgotten_events_start_id: start, forgotten_events_end_id: end } = args;
  return (id) => ids.has(id) || (start !== null && end !== null && id >= start && id <= end);
}

/** An answer with several calls is forgotten as a whole or not at all: half of it would be no legal request. */
function isForgotten(entry: Entry, forgets: (id: number) => boolean): boolean {
  if (entry.type === 'text') return !entry.pinned && forgets(entry.eventId);
  const ids = entry.calls.flatMap(({ eventIds }) => eventIds);
  return ids.length > 0 && ids.every(forgets);
}
