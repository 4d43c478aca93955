import { ChevronRight } from 'lucide-react';
import { observed, type ActionCard } from './card.ts';
import { durationFacts, outcomeFacts, spoken } from './facts.ts';

export const delegateCard: ActionCard<'delegate'> = (step) => {
  const { agent, inputs } = step.action.args;
  const result = observed('delegate', step.observation);
  const task = typeof inputs.task === 'string' ? inputs.task : '';
  const detail = result?.content || task;
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: ChevronRight,
    verb: agent,
    strong: 'plain',
    detail,
    facts,
    name: `${agent} ${detail}${spoken(facts)}`,
    open: 'never',
    ...(result && task && { body: () => <p className="thread text-ink-2">{task}</p> }),
  };
};
