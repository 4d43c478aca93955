import { presentPlan } from '../tools/present-plan.ts';
import type { Tool } from '../tools/define-tool.ts';
import type { Agent } from './agent.ts';
import { codeActAgent, EDITING_TOOLS } from './code-act-agent.ts';

function readOnly(name: string, description: string, { paragraph, tools = [] }: { paragraph: string; tools?: readonly Tool[] }): Agent {
  return {
    name,
    description,
    isReadOnly: true,
    tools: [...codeActAgent.tools.filter(({ spec }) => !EDITING_TOOLS.has(spec.name)), ...tools],
    systemPrompt: (context) => `${codeActAgent.systemPrompt(context)}\n\n${paragraph}`,
  };
}

/** Looks, and says what it would do. When the user approves, another agent does it. */
export const planAgent: Agent = readOnly('PlanAgent', 'looks and plans, changes nothing', {
  paragraph: `Plan mode
- The workspace is mounted read-only: nothing in it can be changed, by no tool and no command. Scratch files go to /tmp or the home.
- Find out what the task needs, then call present_plan. Ask with ask_user what only the user can decide. Do not begin the work.
- When the plan is approved you are notified, and the workspace can be changed.`,
  tools: [presentPlan],
});

/** Answers questions about the workspace, for a person or for another agent. */
export const exploreAgent: Agent = readOnly('ExploreAgent', 'looks and reports, changes nothing', {
  paragraph: `The workspace is mounted read-only: nothing in it can be changed, by no tool and no command. Find what was asked for and report it, with paths and line numbers.`,
});
