/** The agent's plan: what its newest observation `task_tracking` holds. The fold has its id alone, so a plan of any length costs the state nothing. */
import { isObservation, TaskTrackingObservation, type Action, type Observation, type ObservationDraft } from '@tendon/protocol';
import type { EventLog } from '../log/event-log.ts';

export type Tasks = Observation<'task_tracking'>['extras']['task_list'];

/** No event: there is no plan. */
export const NO_PLAN = -1;

/** Empty when there is none. */
export async function readPlan(log: EventLog, planId: number): Promise<Tasks> {
  if (planId === NO_PLAN) return [];
  const [event] = await log.read({ from: planId, limit: 1 });
  return event && isObservation(event) && event.observation === 'task_tracking' ? event.extras.task_list : [];
}

/** `saved` is the plan before the action. */
export function trackTasks({ args: { command, task_list } }: Action<'task_tracking'>, saved: Tasks): ObservationDraft<'task_tracking'> {
  if (command !== 'plan') return TaskTrackingObservation.create(planText(saved) || 'There is no plan yet.', { command, task_list: saved });
  const done = task_list.filter(({ status }) => status === 'done').length;
  const words = task_list.length === 0 ? 'The plan is empty now.' : `The plan is saved: ${done} of ${task_list.length} done.`;
  return TaskTrackingObservation.create(words, { command, task_list });
}

const MARKS: Readonly<Record<string, string>> = { done: 'x', in_progress: '>' };

/** For the model; `id` only where it is more than the place in the list. */
export function planText(tasks: Tasks): string {
  return tasks
    .map(({ id, title, status, notes }, index) => {
      const name = id === String(index + 1) ? '' : `${id}: `;
      return `${index + 1}. [${MARKS[status] ?? ' '}] ${name}${title}${notes && `\n   ${notes.replaceAll('\n', '\n   ')}`}`;
    })
    .join('\n');
}
