import { Lightbulb } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { firstSentence } from '../../copy/first-sentence.ts';
import type { ActionCard } from './card.ts';

export const thinkCard: ActionCard<'think'> = ({ action }) => {
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
