import { ListChecks } from 'lucide-react';
import { StateGlyph } from '../../ui/icon.tsx';
import type { ActionCard } from './card.tsx';

const GLYPHS = { done: 'done', in_progress: 'running' } as const;

export const planCard: ActionCard<'task_tracking'> = ({ action }) => {
  const tasks = action.args.task_list;
  const done = tasks.filter((task) => task.status === 'done').length;
  const isPlan = action.args.command === 'plan' && tasks.length > 0;
  const detail = isPlan ? `${done} of ${tasks.length}` : '';
  return {
    icon: ListChecks,
    verb: isPlan ? 'Updated the plan' : 'Looked at the plan',
    detail,
    facts: [],
    name: `Updated the plan ${detail}`,
    open: 'never',
    ...(isPlan && {
      body: () => (
        <ul className="plan">
          {tasks.map((task) => (
            <li key={task.id}>
              <StateGlyph glyph={GLYPHS[task.status as keyof typeof GLYPHS] ?? 'dot'} />
              {task.title}
            </li>
          ))}
        </ul>
      ),
    }),
  };
};
