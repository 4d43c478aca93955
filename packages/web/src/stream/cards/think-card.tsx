import { Lightbulb } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { firstSentence } from '../../copy/first-sentence.ts';
import type { ActionFace } from './card.ts';

export const thinkFace: ActionFace<'think'> = ({ action }) => {
  const { thought } = action.args;
  return {
    icon: Lightbulb,
    verb: 'Thought',
    detail: firstSentence(thought),
    facts: [],
    name: `Thought ${firstSentence(thought)}`,
    open: 'never',
    copy: thought,
    body: () => <Prose text={thought} quiet />,
  };
};
