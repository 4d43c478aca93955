/** An action `recall` with `note`: somebody outside the engine remembers a line for later conversations. */
import { ErrorObservation, RecallObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import type { LoopPorts } from './ports.ts';
import { notice } from './notices.ts';

export async function noted({ notes }: Pick<LoopPorts, 'notes'>, { args }: Action<'recall'>): Promise<ObservationDraft> {
  const { query: text, note } = args;
  if (!notes || !note) return notice.unavailable;
  const { about, replaces } = note;
  const done = await notes({ about, text, replaces });
  if (!done.ok) return ErrorObservation.create(done.problem, { error_id: 'AGENT_ERROR$NOTE_REFUSED' });
  const words = {
    added: 'Noted',
    replaced: 'Noted, in place of another line',
    removed: 'Removed from the notes',
    unchanged: 'The notes stay as they are',
  };
  const line = text || replaces || '';
  const { change, file } = done;
  return RecallObservation.create(`${words[change]}, about the ${about}: ${line}`, {
    recall_type: 'default',
    query: line,
    note: { about, file },
  });
}
