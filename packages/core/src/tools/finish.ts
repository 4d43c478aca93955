import { FinishAction, RejectAction, ThinkAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

const completed = z.enum(['true', 'partial', 'false']).optional().catch(undefined);

export const finish = defineTool({
  name: 'finish',
  description: 'End the task: it is done and checked, or you cannot get further.',
  needsSandbox: false,
  parameters: z.object({
    message: z.string().optional().describe('For the user: what was done and how it was checked, or what is in the way.'),
    task_completed: completed.describe('Whether the task is done.'),
  }),
  toAction: ({ message, task_completed }) =>
    FinishAction.create({ final_thought: message ?? '', ...(task_completed !== undefined && { task_completed }) }),
});

export const reject = defineTool({
  name: 'reject',
  description: 'Decline the task, when it must not be done. For what you merely cannot do, call finish.',
  needsSandbox: false,
  parameters: z.object({ reason: z.string().describe('For the user: why.') }),
  toAction: ({ reason }) => RejectAction.create({ outputs: { reason } }),
});

export const think = defineTool({
  name: 'think',
  description: 'Write down a thought: compare ways to go, work out a bug, plan. It changes nothing and shows you nothing new.',
  needsSandbox: false,
  parameters: z.object({ thought: z.string() }),
  toAction: ({ thought }) => ThinkAction.create({ thought }),
});
