import type { LlmMetrics, ToolCallMetadata } from '@tendon/protocol';
import { CircleCheck, CircleSlash } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { money, clock } from '../../copy/figures.ts';
import { isDemoModel } from '../../lib/models.ts';
import type { ActionCard } from './card.tsx';
import { t, textKey } from '../../lib/language/text.ts';

const COMPLETED = { true: undefined, partial: textKey('partly'), false: textKey('not finished') } as const;

export const finishCard: ActionCard<'finish'> = ({ action }) => {
  const { final_thought: final, thought, outputs, task_completed: completed } = action.args;
  const outcome = completed && COMPLETED[completed];
  const detail = outcome ? t(outcome) : '';
  const cost = action.llm_metrics?.accumulated_cost;
  const facts = [
    { text: clock(action.timestamp) },
    ...(isDemoModel(modelOf(action)) ? [{ text: 'demo' }] : cost ? [{ text: money(cost) }] : []),
  ];
  const summary = final || thought;
  return {
    icon: CircleCheck,
    verb: t('Done'),
    strong: 'bold',
    detail,
    facts,
    tone: completed === 'false' ? 'wait' : 'ok',
    name: detail ? `${t('Done')}, ${detail}` : t('Done'),
    open: 'always',
    copy: summary,
    ...((summary || Object.keys(outputs).length > 0) && {
      body: () => (
        <div className="flex flex-col gap-2">
          {summary && <Prose text={summary} />}
          <Outputs outputs={outputs} />
        </div>
      ),
    }),
  };
};

function modelOf({
  tool_call_metadata: call,
  llm_metrics: metrics,
}: {
  readonly tool_call_metadata?: ToolCallMetadata;
  readonly llm_metrics?: Partial<LlmMetrics>;
}) {
  return call?.model_response.model ?? metrics?.accumulated_token_usage?.model;
}

export const rejectCard: ActionCard<'reject'> = ({ action }) => {
  const reason = typeof action.args.outputs.reason === 'string' ? action.args.outputs.reason : action.args.thought;
  return {
    icon: CircleSlash,
    verb: t('Declined'),
    strong: 'bold',
    detail: reason,
    facts: [],
    tone: 'wait',
    name: `${t('Declined')} ${reason}`,
    open: 'always',
    body: () => <Outputs outputs={action.args.outputs} />,
  };
};

/** What an agent hands over at the end. */
function Outputs({ outputs }: { readonly outputs: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return null;
  return (
    <div className="prose">
      <ul>
        {entries.map(([name, value]) => (
          <li key={name}>
            {name === 'content' ? '' : `${name}: `}
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </li>
        ))}
      </ul>
    </div>
  );
}
