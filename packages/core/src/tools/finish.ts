import { FinishAction } from '@tendon/protocol';
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
