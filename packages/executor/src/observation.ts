import type { ObservationDraft } from '@tendon/protocol';

/** Something the agent did wrong or that failed, told as an observation of its own kind. */
export function errorObservation(content: string): ObservationDraft<'error'> {
  return { observation: 'error', content, extras: { error_id: '' } };
}

/** The message of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
