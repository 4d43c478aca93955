import { catalogError, CondensationAction, type ActionDraft, type CatalogError } from '@tendon/protocol';
import type { EngineState } from '../../engine/engine-state.ts';
import type { SourcedDraft } from '../../log/event-log.ts';

/** A person puts another text in the place of the newest summary, or undoes the newest condensation. What the model is shown follows the log. */
export function revise({ condensation }: EngineState, { args }: ActionDraft<'condensation'>): readonly SourcedDraft[] | CatalogError {
  const { inForce, requestedBy } = condensation;
  if (requestedBy) return catalogError('ILLEGAL_STATE', 'the history is being condensed');
  if (args.undoes !== undefined) {
    if (inForce.at(-1)?.id !== args.undoes) return catalogError('INVALID_ARGUMENTS', 'undoes: only the newest condensation can be undone');
    return [{ source: 'user', ...CondensationAction.create({ forgotten_event_ids: [], undoes: args.undoes }) }];
  }
  const newest = inForce.findLast(({ end }) => end >= 0)?.id;
  if (args.edits === undefined || newest !== args.edits)
    return catalogError('INVALID_ARGUMENTS', 'edits: only the newest summary can be edited');
  if (!args.summary?.trim()) return catalogError('INVALID_ARGUMENTS', 'summary: the new text is empty');
  return [{ source: 'user', ...CondensationAction.create({ forgotten_event_ids: [], edits: args.edits, summary: args.summary }) }];
}
