import { FilePlus2 } from 'lucide-react';
import { NumberedLines } from '../numbered-lines.tsx';
import type { ActionFace } from '../face.ts';
import { changeFacts } from './edit-face.tsx';
import { shownPath } from '../../words/shown-path.ts';
import { outcomeFacts, spoken } from './facts.ts';
import { failureBody } from './failure-body.tsx';

export const writeFace: ActionFace<'write'> = (step) => {
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
