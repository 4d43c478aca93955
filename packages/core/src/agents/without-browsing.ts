import type { Agent } from './agent.ts';

const BROWSING: ReadonlySet<string> = new Set(['browser', 'web_read']);

/** The agent without the tools that need a browser: its requests are shorter, and nothing of the web is offered. */
export function withoutBrowsing(agent: Agent): Agent {
  return { ...agent, tools: agent.tools.filter(({ spec }) => !BROWSING.has(spec.name)) };
}
