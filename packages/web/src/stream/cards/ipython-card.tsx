import { NotebookText } from 'lucide-react';
import { observed, type ActionCard } from './card.ts';
import { Picture } from './picture.tsx';
import { Well } from '../../code/well.tsx';
import { durationFacts, outcomeFacts, spoken } from './facts.ts';
import { failureBody } from './failure-body.tsx';

export const ipythonCard: ActionCard<'run_ipython'> = (step) => {
  const result = observed('run_ipython', step.observation);
  const lines = step.action.args.code.trim().split('\n');
  const object = lines.at(-1) ?? '';
  const facts = [
    ...(result?.success === false ? ([{ text: 'failed', tone: 'bad' }] as const) : []),
    ...outcomeFacts(step),
    ...durationFacts(step),
  ];
  const [image] = result?.extras.image_urls ?? [];
  const [title = '', ...rest] = (result?.content ?? '').trim().split('\n');
  return {
    icon: NotebookText,
    verb: 'Ran Python',
    object,
    facts,
    name: `Ran Python ${object}${spoken(facts)}`,
    open: image || result?.success === false ? 'always' : 'newest',
    copy: step.action.args.code,
    body:
      failureBody(step.observation) ??
      (() =>
        image ? (
          <Picture src={image} alt={`Picture made by ${object}`} title={title} text={rest.join('\n')} />
        ) : (
          <div className="flex flex-col gap-1">
            <Well text={step.action.args.code} rows />
            {result?.content.trim() && <Well text={result.content} rows />}
          </div>
        )),
  };
};
