import type { Observation } from '@tendon/protocol';
import { lineDiff, unifiedDiff, type LineDiff } from '../../code/line-diff.ts';

const known = new WeakMap<object, LineDiff>();

/** What an edit changed; computed once for each event, and only for those that are looked at. */
export function editDiff(edit: Observation<'edit'>): LineDiff {
  const found = known.get(edit);
  if (found) return found;
  const { old_content: before, new_content: after, diff } = edit.extras;
  const made = after === null && diff ? unifiedDiff(diff) : lineDiff(before ?? '', after ?? '');
  known.set(edit, made);
  return made;
}
