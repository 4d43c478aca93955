import type { ExecuteResult } from '@tendon/core';
import type { ObservationDraft } from '@tendon/protocol';

/** Beside the output of a command, never in it; other observations have no such place. */
function noted(observation: ObservationDraft, notes: readonly string[]): ObservationDraft {
  const text = notes.map((note) => `\n[${note[0]?.toUpperCase()}${note.slice(1)}.]`).join('');
  if (observation.observation !== 'run') return { ...observation, content: observation.content + text } as ObservationDraft;
  const { extras } = observation as ObservationDraft<'run'>;
  const metadata = { ...extras.metadata, suffix: extras.metadata.suffix + text };
  return { ...observation, extras: { ...extras, metadata } } as ObservationDraft;
}

/** What came of an action, with words beside it. */
export function withNotes(result: ExecuteResult, notes: readonly string[]): ExecuteResult {
  if (notes.length === 0) return result;
  if (result.outcome === 'observed') return { ...result, observation: noted(result.observation, notes) };
  return { ...result, reason: [result.reason, ...notes].join('; ') };
}
