import type { Observation } from '@tendon/protocol';
import { FileDiff, FilePlus2, FileText, Search } from 'lucide-react';
import { DiffTable } from '../../code/diff-table.tsx';
import { NumberedLines } from '../../code/numbered-lines.tsx';
import { lineDiff, type LineDiff, unifiedDiff } from '../../code/line-diff.ts';
import { hasFailed } from '../../conversation/outcome.ts';
import { shownPath } from '../../copy/shorten.ts';
import {
  type ActionCard,
  type Card,
  type Fact,
  failureBody,
  failureFacts,
  type ObservationCard,
  observed,
  outcomeFacts,
  spoken,
} from './card.tsx';
import { figure, t } from '../../lib/language/text.ts';

export const readCard: ActionCard<'read'> = (step) => {
  const { start, path, search } = step.action.args;
  const result = observed('read', step.observation);
  if (search) return searchCard(search.pattern, result?.content, outcomeFacts(step), failureBody(step.observation));
  const facts = [...(result && !hasFailed(result) ? [{ text: linesWords(result.content, start) }] : []), ...outcomeFacts(step)];
  return readingCard(path, result?.content, start + 1, facts, failureBody(step.observation));
};

function searchCard(pattern: string, content: string | undefined, facts: Card['facts'], failure: Card['body']): Card {
  const body = failure ?? (content === undefined ? undefined : () => <NumberedLines text={content} path="" first={1} />);
  return {
    icon: Search,
    verb: t('Searched for'),
    object: pattern,
    facts,
    name: `${t('Searched for')} ${pattern}${spoken(facts)}`,
    open: 'never',
    ...(content !== undefined && { copy: content }),
    ...(body && { body }),
  };
}

function readingCard(path: string, content: string | undefined, first: number, facts: Card['facts'], failure: Card['body']): Card {
  const body = failure ?? (content === undefined ? undefined : () => <NumberedLines text={content} path={path} first={first} />);
  return {
    icon: FileText,
    verb: t('Read'),
    object: shownPath(path),
    facts,
    name: `${t('Read')} ${shownPath(path)}${spoken(facts)}`,
    open: 'never',
    ...(content !== undefined && { copy: content }),
    ...(body && { body }),
  };
}

function linesWords(content: string, start: number): string {
  const lines = content.replace(/\n$/, '').split('\n').length;
  return start > 0 ? t('lines {{first}}–{{last}}', { first: start + 1, last: start + lines }) : t('{{count}} lines', { count: lines });
}

export const writeCard: ActionCard<'write'> = (step) => {
  const { path, content } = step.action.args;
  const failed = step.observation !== undefined && hasFailed(step.observation);
  const facts = [...(failed ? [] : changeFacts(content.replace(/\n$/, '').split('\n').length, 0)), ...outcomeFacts(step)];
  return {
    icon: FilePlus2,
    verb: t('Wrote'),
    object: shownPath(path),
    facts,
    name: `${t('Wrote')} ${shownPath(path)}${spoken(facts)}`,
    open: 'newest',
    copy: content,
    body: failureBody(step.observation) ?? (() => <NumberedLines text={content} path={path} />),
  };
};

export const editCard: ActionCard<'edit'> = (step) => {
  const { path, command } = step.action.args;
  const failure = failureBody(step.observation);
  if (command === 'view') {
    const content = failure ? undefined : step.observation?.content;
    return readingCard(path, content, 1, outcomeFacts(step), failure);
  }
  const result = observed('edit', step.observation);
  const isNew = command === 'create' || result?.extras.prev_exist === false;
  const diff = result && !failure ? editDiff(result) : undefined;
  const facts: readonly Fact[] = [...(diff ? changeFacts(diff.added, diff.removed) : []), ...outcomeFacts(step)];
  const verb = isNew ? t('Wrote') : t('Edited');
  const body = failure ?? (diff && diff.rows.length > 0 ? () => <DiffBody path={path} diff={diff} isNew={isNew} /> : undefined);
  return {
    icon: isNew ? FilePlus2 : FileDiff,
    verb,
    object: shownPath(path),
    facts,
    name: `${verb} ${shownPath(path)}${spoken(facts)}`,
    open: failure ? 'always' : 'newest',
    copy: path,
    ...(body && { body }),
  };
};

function changeFacts(added: number, removed: number): readonly Fact[] {
  return [
    ...(added > 0 ? ([{ text: `+${figure(added)}`, tone: 'ok' }] as const) : []),
    ...(removed > 0 ? ([{ text: `−${figure(removed)}`, tone: 'bad', isJoined: added > 0 }] as const) : []),
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
export const editedCard: ObservationCard<'edit'> = (event) => {
  const { path, prev_exist: existed } = event.extras;
  const diff = editDiff(event);
  const facts = hasFailed(event) ? failureFacts(event) : changeFacts(diff.added, diff.removed);
  return {
    icon: FileDiff,
    verb: t('Edited'),
    object: shownPath(path),
    facts,
    name: `${t('Edited')} ${shownPath(path)}${spoken(facts)}`,
    open: 'newest',
    body: () => <DiffTable diff={diff} path={path} isNew={!existed} rows={20} />,
  };
};

const known = new WeakMap<object, LineDiff>();

/** What an edit changed; computed once for each event, and only for those that are looked at. */
function editDiff(edit: Observation<'edit'>): LineDiff {
  const found = known.get(edit);
  if (found) return found;
  const { old_content: before, new_content: after, diff } = edit.extras;
  const made = after === null && diff ? unifiedDiff(diff) : lineDiff(before ?? '', after ?? '');
  known.set(edit, made);
  return made;
}
