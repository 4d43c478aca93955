import { FileText } from 'lucide-react';
import { count } from '../../copy/counts.ts';
import { shownPath } from '../../copy/shown-path.ts';
import { NumberedLines } from '../../code/numbered-lines.tsx';
import { observed, type ActionCard, type Card } from './card.ts';
import { outcomeFacts, spoken } from './facts.ts';
import { failureBody } from './failure-body.tsx';

export const readCard: ActionCard<'read'> = (step) => {
  const { start, path } = step.action.args;
  const result = observed('read', step.observation);
  const facts = [...(result ? [{ text: linesWords(result.content, start) }] : []), ...outcomeFacts(step)];
  return readingCard(path, result?.content, start + 1, facts, failureBody(step.observation));
};

export function readingCard(path: string, content: string | undefined, first: number, facts: Card['facts'], failure: Card['body']): Card {
  const body = failure ?? (content === undefined ? undefined : () => <NumberedLines text={content} path={path} first={first} />);
  return {
    icon: FileText,
    verb: 'Read',
    object: shownPath(path),
    facts,
    name: `Read ${shownPath(path)}${spoken(facts)}`,
    open: 'never',
    ...(content !== undefined && { copy: content }),
    ...(body && { body }),
  };
}

function linesWords(content: string, start: number): string {
  const lines = content.replace(/\n$/, '').split('\n').length;
  return start > 0 ? `lines ${start + 1}–${start + lines}` : count(lines, 'line');
}
