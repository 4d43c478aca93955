import { RecallObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import { WORKSPACE } from '../view/view.ts';
import { notice } from './notices.ts';

/** The engine's own answer to an action that it was given to answer; what nothing here can carry out is told so. */
export function answerCore(action: Action, now: Date): ObservationDraft {
  if (action.action === 'recall') return recall(action.args.recall_type, now);
  return action.action === 'think' ? notice.thought : notice.unavailable;
}

/** What is known when a task begins. Knowledge by trigger words finds nothing yet. */
export function recall(recall_type: Action<'recall'>['args']['recall_type'], now: Date): ObservationDraft<'recall'> {
  if (recall_type !== 'workspace_context' && recall_type !== 'environment_info') return RecallObservation.create('', { recall_type });
  return RecallObservation.create('Workspace context', { recall_type, date: now.toISOString().slice(0, 10), working_dir: WORKSPACE });
}
