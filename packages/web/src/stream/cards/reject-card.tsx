import { CircleSlash } from 'lucide-react';
import type { ActionCard } from './card.ts';
import { Outputs } from './outputs.tsx';

export const rejectCard: ActionCard<'reject'> = ({ action }) => {
  const reason = typeof action.args.outputs.reason === 'string' ? action.args.outputs.reason : action.args.thought;
  return {
    icon: CircleSlash,
    verb: 'Declined',
    strong: 'bold',
    detail: reason,
    facts: [],
    tone: 'wait',
    name: `Declined ${reason}`,
    open: 'always',
    body: () => <Outputs outputs={action.args.outputs} />,
  };
};
