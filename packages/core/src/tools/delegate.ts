import { DelegateAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** Offered only where somebody carries it out. */
export const delegate = defineTool({
  name: 'delegate',
  description:
    'Have another agent do a separable part of the work in the same workspace. It knows only what you write here; you get its report.',
  needsSandbox: false,
  parameters: z.object({
    task: z.string().describe('What to do and what to report, with everything it needs to know.'),
    agent: z.string().optional().describe('Which agent; default one like you.'),
  }),
  toAction: ({ task, agent }) =>
    task.trim() ? DelegateAction.create({ agent: agent ?? 'CodeActAgent', inputs: { task } }) : 'the task is empty.',
});
