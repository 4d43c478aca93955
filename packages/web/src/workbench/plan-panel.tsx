import { type Event, isAction } from '@tendon/protocol';
import { useConversation } from '../conversation/open-conversation.ts';
import { type Glyph, StateGlyph } from '../ui/icon.tsx';
import { Empty } from '../ui/placeholder.tsx';

interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly notes: string;
}

const GLYPHS: Readonly<Record<string, Glyph>> = { done: 'done', in_progress: 'running' };
const WORDS: Readonly<Record<string, string>> = { done: 'done', in_progress: 'at it', todo: 'to do' };

/** The plan as it was last written; `undefined` before the first. */
export function newestPlan(events: readonly Event[]): readonly Task[] | undefined {
  const event = events.findLast((one) => isAction(one) && one.action === 'task_tracking' && one.args.command === 'plan');
  return event && isAction(event) && event.action === 'task_tracking' ? event.args.task_list : undefined;
}

export function PlanPanel() {
  const plan = newestPlan(useConversation().snapshot.events);
  if (!plan || plan.length === 0) return <Empty title="No plan yet">The agent writes one for longer tasks.</Empty>;
  return (
    <ol className="plan p-4">
      {plan.map((task) => (
        <li key={task.id} className="border-b border-line py-1.5">
          <StateGlyph glyph={GLYPHS[task.status] ?? 'dot'} />
          <span className="flex-1">
            {task.title}
            {task.notes && <span className="block text-small text-ink-3">{task.notes}</span>}
          </span>
          <span className="text-small text-ink-3">{WORDS[task.status] ?? task.status}</span>
        </li>
      ))}
    </ol>
  );
}
