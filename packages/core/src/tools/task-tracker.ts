import { TaskTrackingAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

const MAX_TASKS = 100;

const task = z.object({
  id: z.coerce.string().optional().describe('Default: its place in the list.'),
  title: z.string().min(1).max(500),
  status: z.enum(['todo', 'in_progress', 'done']).default('todo'),
  notes: z.string().max(4_000).optional(),
});

/** The plan of a longer task; the user sees it, and a condensation leaves it. */
export const taskTracker = defineTool({
  name: 'task_tracker',
  description:
    'Your plan, which the user sees: keep one for work of several steps, and keep it true. plan: saves the whole list; one task in_progress at a time, done once checked. view: shows it.',
  needsSandbox: false,
  parameters: z.object({
    command: z.enum(['view', 'plan']),
    task_list: z.array(task).max(MAX_TASKS).optional().describe('plan: all tasks in order, those done too.'),
  }),
  toAction({ command, task_list }) {
    if (command === 'view') return TaskTrackingAction.create({ command });
    if (!task_list) return 'the command "plan" needs the parameter "task_list".';
    const tasks = task_list.map(({ id, title, status, notes = '' }, index) => ({ id: id || String(index + 1), title, status, notes }));
    const twice = tasks.find(({ id }, index) => tasks.findIndex((other) => other.id === id) !== index);
    return twice ? `the id "${twice.id}" is there twice.` : TaskTrackingAction.create({ command, task_list: tasks });
  },
});
