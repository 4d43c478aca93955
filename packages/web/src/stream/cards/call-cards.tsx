import { ChevronRight, Plug } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { type ActionCard, durationFacts, observed, outcomeFacts, Picture, spoken } from './card.tsx';
import { t } from '../../lib/language/text.ts';

export const toolCard: ActionCard<'call_tool_mcp'> = (step) => {
  const { name, arguments: args } = step.action.args;
  const [main] = Object.values(args);
  const detail = typeof main === 'string' ? main : '';
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  const pictures = observed('mcp', step.observation)?.extras.image_urls ?? [];
  return {
    icon: Plug,
    object: name,
    detail,
    facts,
    name: `${t('Called')} ${name} ${detail}${spoken(facts)}`,
    open: 'never',
    body: () => (
      <div className="flex flex-col gap-1">
        <Well text={JSON.stringify(args, null, 2)} />
        {step.observation?.content && <Well text={step.observation.content} />}
        {pictures.map((picture, index) => (
          <Picture key={picture} src={picture} alt={t('Picture {{n}} of {{name}}', { n: index + 1, name })} title="" text="" />
        ))}
      </div>
    ),
  };
};

export const delegateCard: ActionCard<'delegate'> = (step) => {
  const { agent, inputs } = step.action.args;
  const result = observed('delegate', step.observation);
  const task = typeof inputs.task === 'string' ? inputs.task : '';
  const detail = result?.content || task;
  const { branch, changed } = result?.extras.outputs ?? {};
  const changes = typeof changed === 'string' ? changed : '';
  const place = typeof branch === 'string' ? branch : step.action.args.isolated && t('in a copy');
  const facts = [...(place ? [{ text: place }] : []), ...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: ChevronRight,
    verb: agent,
    strong: 'plain',
    detail,
    facts,
    name: `${agent} ${detail}${spoken(facts)}`,
    open: result ? 'never' : 'newest',
    body: () => <DelegatedBody task={task} changes={changes} />,
  };
};

function DelegatedBody({ task, changes }: { readonly task: string; readonly changes: string }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="thread text-ink-2">{task}</p>
      {changes && <Well text={changes} />}
    </div>
  );
}
