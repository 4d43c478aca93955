import type { Agent } from './agent.ts';
import { codeActAgent } from './code-act-agent.ts';
import { exploreAgent, planAgent } from './read-only-agents.ts';

/** Agents by the name clients know. A new one is a file and a line here. */
const AGENTS: Readonly<Record<string, Agent>> = { CodeActAgent: codeActAgent, PlanAgent: planAgent, ExploreAgent: exploreAgent };

const DEFAULT_AGENT = codeActAgent.name;

/** Sorted, for the clients' list of options. */
export function agentNames(): readonly string[] {
  return Object.keys(AGENTS).toSorted();
}

/** Always an agent: for a name that is not known the default one, with a notice that says so. */
export function findAgent(name: string | undefined): Agent {
  if (!name) return codeActAgent;
  const agent = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
  if (agent) return agent;
  const notice = `There is no agent "${name}"; ${DEFAULT_AGENT} works instead. Known are: ${agentNames().join(', ')}.`;
  return { ...codeActAgent, notice };
}
