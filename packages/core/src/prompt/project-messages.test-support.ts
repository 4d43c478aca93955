import type { Event } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import type { LlmMessage } from '../llm/llm-provider.ts';
import { View } from './view.ts';

/** The messages for the model: a pure, total function of the events. Every prefix of every log gives a legal request. */
export function projectMessages(events: readonly Event[], agent: Agent): readonly LlmMessage[] {
  const view = new View(agent);
  for (const event of events) view.add(event);
  return view.project().messages;
}
