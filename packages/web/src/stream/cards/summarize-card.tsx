import { TextQuote } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { firstSentence } from '../../copy/first-sentence.ts';
import type { ActionCard } from './card.ts';

export const summarizeCard: ActionCard<'summarize'> = ({ action }) => ({
  icon: TextQuote,
  verb: 'Summary',
  detail: firstSentence(action.args.summary),
  facts: [],
  name: `Summary ${firstSentence(action.args.summary)}`,
  open: 'never',
  copy: action.args.summary,
  body: () => <Prose text={action.args.summary} />,
});
