import type { Agent } from '@tendon/core';

/** The agent, told what whoever made the conversation wants of it beside the task. */
export function withInstructions(agent: Agent, instructions: string | undefined): Agent {
  if (!instructions?.trim()) return agent;
  return {
    ...agent,
    systemPrompt: (context) =>
      `${agent.systemPrompt(context)}\n\n<CONVERSATION_INSTRUCTIONS>\n${instructions}\n</CONVERSATION_INSTRUCTIONS>`,
  };
}
