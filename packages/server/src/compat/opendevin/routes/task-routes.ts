import { isAction, isObservation, type Event } from '@tendon/protocol';
import type { Routes } from '../../../platform/http/app.ts';
import { sendFailure, sendJsonText } from '../../../platform/http/failure.ts';
import { conversationMeant, type BearerContext } from './forward.ts';

interface Task {
  readonly id: string;
  readonly goal: string;
  readonly state: string;
  readonly subtasks: readonly Task[];
}
type TaskItem = { readonly title: string; readonly status: string };

/** The plan is looked for in so many of the newest events. */
const MAX_EVENTS = 1_000;
const STATES: Readonly<Record<string, string>> = { todo: 'open', in_progress: 'in_progress', done: 'completed' };

/** The plan panel of opendevin-2024-05 (`/api/plan`, JSON in a JSON string) and of opendevin-2024-06 and opendevin-2024-07 (`/api/root_task`): the agent's task list. */
export const taskRoutes: Routes<BearerContext> = (app, context) => {
  const hidden = { schema: { hide: true } };
  app.get('/api/root_task', hidden, async (request, reply) => {
    const id = await conversationMeant(request, context);
    if (typeof id !== 'string') return sendFailure(reply, id);
    return (await rootTask(context, id)) ?? reply.code(204).send();
  });
  app.get('/api/plan', hidden, async (request, reply) => {
    const id = await conversationMeant(request, context);
    if (typeof id !== 'string') return sendFailure(reply, id);
    const task = await rootTask(context, id);
    if (!task) return reply.code(204).send();
    return sendJsonText(reply, JSON.stringify(JSON.stringify({ mainGoal: task.goal, task })));
  });
};

async function rootTask({ conversations }: Pick<BearerContext, 'conversations'>, id: string): Promise<Task | undefined> {
  const log = await conversations.log(id);
  const events = (await log?.read({ reverse: true, limit: MAX_EVENTS })) ?? [];
  const items = events.map(itemsOf).find((list) => list !== undefined);
  if (!items || items.length === 0) return undefined;
  const subtasks = items.map(({ title, status }, index) => ({
    id: `0.${index}`,
    goal: title,
    state: STATES[status] ?? status,
    subtasks: [],
  }));
  const state = subtasks.every((task) => task.state === 'completed') ? 'completed' : 'in_progress';
  return { id: '0', goal: (await conversations.get(id))?.title ?? '', state, subtasks };
}

function itemsOf(event: Event): readonly TaskItem[] | undefined {
  if (isObservation(event) && event.observation === 'task_tracking') return event.extras.task_list;
  return isAction(event) && event.action === 'task_tracking' && event.args.command === 'plan' ? event.args.task_list : undefined;
}
