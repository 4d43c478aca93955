import { Plug } from 'lucide-react';
import type { ActionCard } from './card.ts';
import { Well } from '../../code/well.tsx';
import { durationFacts, outcomeFacts, spoken } from './facts.ts';

export const toolCard: ActionCard<'call_tool_mcp'> = (step) => {
  const { name, arguments: args } = step.action.args;
  const [main] = Object.values(args);
  const detail = typeof main === 'string' ? main : '';
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: Plug,
    object: name,
    detail,
    facts,
    name: `Called ${name} ${detail}${spoken(facts)}`,
    open: 'never',
    body: () => (
      <div className="flex flex-col gap-1">
        <Well text={JSON.stringify(args, null, 2)} />
        {step.observation?.content && <Well text={step.observation.content} />}
      </div>
    ),
  };
};
