import { FilePlus2 } from 'lucide-react';
import { NumberedLines } from '../../code/numbered-lines.tsx';
import type { ActionCard } from './card.ts';
import { changeFacts } from './edit-card.tsx';
import { shownPath } from '../../copy/shown-path.ts';
import { outcomeFacts, spoken } from './facts.ts';
import { failureBody } from './failure-body.tsx';

export const writeCard: ActionCard<'write'> = (step) => {
  const { path, content } = step.action.args;
  const facts = [...changeFacts(content.replace(/\n$/, '').split('\n').length, 0), ...outcomeFacts(step)];
  return {
    icon: FilePlus2,
    verb: 'Wrote',
    object: shownPath(path),
    facts,
    name: `Wrote ${shownPath(path)}${spoken(facts)}`,
    open: 'newest',
    copy: content,
    body: failureBody(step.observation) ?? (() => <NumberedLines text={content} path={path} />),
  };
};
