import { FileDiff, FilePlus2 } from 'lucide-react';
import { DiffTable } from '../../code/diff-table.tsx';
import { editDiff } from './edit-diff.ts';
import { observed, type ActionCard, type Card, type Fact } from './card.ts';
import { shownPath } from '../../copy/shown-path.ts';
import { outcomeFacts, spoken } from './facts.ts';
import { failureBody } from './failure-body.tsx';
import { readingCard } from './read-card.tsx';

export const editCard: ActionCard<'edit'> = (step) => {
  const { path, command } = step.action.args;
  const failure = failureBody(step.observation);
  if (command === 'view') {
    const content = step.observation?.observation === 'error' ? undefined : step.observation?.content;
    return readingCard(path, content, 1, outcomeFacts(step), failure);
  }
  const result = observed('edit', step.observation);
  const isNew = command === 'create' || result?.extras.prev_exist === false;
  const diff = result && editDiff(result);
  const facts: readonly Fact[] = [...(diff ? changeFacts(diff.added, diff.removed) : []), ...outcomeFacts(step)];
  const verb = isNew ? 'Wrote' : 'Edited';
  const body = failure ?? (diff && diff.rows.length > 0 ? () => <DiffBody path={path} diff={diff} isNew={isNew} /> : undefined);
  return {
    icon: isNew ? FilePlus2 : FileDiff,
    verb,
    object: shownPath(path),
    facts,
    name: `${verb} ${shownPath(path)}${spoken(facts)}`,
    open: 'newest',
    copy: path,
    ...(body && { body }),
  };
};

export function changeFacts(added: number, removed: number): readonly Fact[] {
  return [
    ...(added > 0 ? ([{ text: `+${added}`, tone: 'ok' }] as const) : []),
    ...(removed > 0 ? ([{ text: `−${removed}`, tone: 'bad', isJoined: added > 0 }] as const) : []),
  ];
}

function DiffBody({ path, diff, isNew }: { readonly path: string; readonly diff: ReturnType<typeof editDiff>; readonly isNew: boolean }) {
  return (
    <div className="diff-card">
      <DiffTable diff={diff} path={path} isNew={isNew} rows={20} />
    </div>
  );
}

/** An edit of which only the observation is known. */
export function editedCard(path: string, facts: readonly Fact[], body?: Card['body']): Card {
  return {
    icon: FileDiff,
    verb: 'Edited',
    object: shownPath(path),
    facts,
    name: `Edited ${shownPath(path)}${spoken(facts)}`,
    open: 'newest',
    ...(body && { body }),
  };
}
