import { DelegateAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from './define-tool.ts';

const MAX_NAMED = 20;
const MAX_DESCRIPTION = 100;
const MAX_MINUTES = 24 * 60;

/** Offered only where somebody carries it out. `others`: agents of the user's own. */
export function delegateTo(others: readonly { readonly name: string; readonly description: string }[]): Tool {
  const named = others.slice(0, MAX_NAMED).map(({ name, description }) => `${name} (${description.slice(0, MAX_DESCRIPTION)})`);
  const known = ['ExploreAgent (looks, changes nothing)', ...named].join(', ');
  return defineTool({
    name: 'delegate',
    description: 'Have another agent do a separable part of the work. It knows only what you write here; you get its report.',
    needsSandbox: false,
    parameters: z.object({
      task: z.string().describe('What to do and what to report, with everything it needs to know.'),
      agent: z.string().optional().describe(`Default one like you; or ${known}, or one of .agents/agents.`),
      minutes: z.number().positive().max(MAX_MINUTES).optional(),
      isolated: z.boolean().optional().describe('In a copy; you get a git branch.'),
    }),
    toAction: ({ task, agent = 'CodeActAgent', minutes, isolated }) => {
      const limit = minutes !== undefined && { time_limit: minutes * 60 };
      const copy = isolated && { isolated };
      return task.trim() ? DelegateAction.create({ agent, inputs: { task }, ...limit, ...copy }) : 'the task is empty.';
    },
  });
}
