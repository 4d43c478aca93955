import { ThinkAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

export const think = defineTool({
  name: 'think',
  description: 'Write down a thought: compare ways to go, work out a bug, plan. It changes nothing and shows you nothing new.',
  needsSandbox: false,
  parameters: z.object({ thought: z.string() }),
  toAction: ({ thought }) => ThinkAction.create({ thought }),
});
