import { z } from 'zod';
import { defineAction, defineObservation, securityRisk, thought } from '../define.ts';

export const NullAction = defineAction({ kind: 'null', args: () => ({}), message: () => 'No action' });

/** Client only. `model`, `directory`, `agent_cls` of the READMEs; upper-case twins are mapped by the dialect. */
export const InitializeAction = defineAction({
  kind: 'initialize',
  args: () => ({ model: z.string().optional(), directory: z.string().optional(), agent_cls: z.string().optional() }),
  message: () => 'Initializing the agent',
});

/** Client only: begins a development task. */
export const StartAction = defineAction({
  kind: 'start',
  args: () => ({ task: z.string() }),
  message: (args) => args.task,
});

export const PauseAction = defineAction({ kind: 'pause', args: () => ({}), message: () => 'Pausing the task' });
export const ResumeAction = defineAction({ kind: 'resume', args: () => ({}), message: () => 'Resuming the task' });
export const StopAction = defineAction({ kind: 'stop', args: () => ({}), message: () => 'Stopping the task' });

export const PushAction = defineAction({
  kind: 'push',
  args: () => ({ owner: z.string().default(''), repo: z.string().default(''), branch: z.string().default('') }),
  traits: { mutating: true, confirmable: true },
  message: (args) => `Pushing ${args.branch} to ${args.owner}/${args.repo}`,
});

export const SendPrAction = defineAction({
  kind: 'send_pr',
  args: () => ({
    owner: z.string().default(''),
    repo: z.string().default(''),
    title: z.string().default(''),
    body: z.string().default(''),
  }),
  traits: { mutating: true, confirmable: true },
  message: (args) => `Opening a pull request in ${args.owner}/${args.repo}`,
});

export const CallToolMcpAction = defineAction({
  kind: 'call_tool_mcp',
  args: () => ({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}), thought, security_risk: securityRisk }),
  traits: { answeredBy: 'core', mutating: true, confirmable: true },
  message: (args) =>
    `I am interacting with the MCP server with name:\n\`\`\`\n${args.name}\n\`\`\`\nand arguments:\n\`\`\`\n${JSON.stringify(args.arguments)}\n\`\`\``,
});

export const McpObservation = defineObservation({
  kind: 'mcp',
  extras: () => ({
    name: z.string().default(''),
    arguments: z.record(z.string(), z.unknown()).default({}),
    /** Pictures of the result, as data URLs. */
    image_urls: z.array(z.string()).optional(),
    /** A tool of the user's own made it: it is not marked as the words of others. */
    is_own: z.boolean().optional(),
  }),
  message: (_extras, content) => content,
});

export const ErrorObservation = defineObservation({
  kind: 'error',
  extras: () => ({ error_id: z.string().default('') }),
  message: (_extras, content) => content,
});

export const SuccessObservation = defineObservation({
  kind: 'success',
  extras: () => ({
    /** The moment whose hooks say this; of what else went well it is not there. */
    hook: z.string().optional(),
    /** The mode by which actions wait for a person from here on; of what else went well it is not there. */
    confirmation_policy: z.string().optional(),
  }),
  message: (_extras, content) => content,
});
export const UserRejectedObservation = defineObservation({
  kind: 'user_rejected',
  extras: () => ({}),
  message: (_extras, content) => content,
});
export const NullObservation = defineObservation({ kind: 'null', extras: () => ({}), message: () => 'No observation' });
