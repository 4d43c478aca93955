import type { Agent } from './agent.ts';
import type { AgentFile } from '../knowledge/agent-file.ts';
import { codeActAgent } from './code-act-agent.ts';

/** Always offered: without it a task could not end. */
const ENDING = 'finish';

/** The general agent with the file's words behind its own; `limitTools` takes away what the file does not name. */
export function customAgent({ name, description, prompt, read_only }: AgentFile): Agent {
  return {
    ...codeActAgent,
    name,
    description,
    ...(read_only && { isReadOnly: true as const }),
    systemPrompt: (context) => `${codeActAgent.systemPrompt(context)}\n\n<AGENT name="${name}">\n${prompt}\n</AGENT>`,
  };
}

/** Never more than the agent has. */
export function limitTools(agent: Agent, names: readonly string[] | undefined): Agent {
  if (names === undefined) return agent;
  return { ...agent, tools: agent.tools.filter(({ spec }) => spec.name === ENDING || names.includes(spec.name)) };
}
