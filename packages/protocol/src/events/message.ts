import { z } from 'zod';
import { defineAction, defineObservation, securityRisk } from '../define.ts';

const urls = z.array(z.string()).nullable().default(null);

export const MessageAction = defineAction({
  kind: 'message',
  args: () => ({
    content: z.string(),
    file_urls: urls,
    image_urls: urls,
    wait_for_response: z.boolean().default(false),
    /** Our own: answers that a question offers; its content names them too. */
    choices: z.array(z.string()).optional(),
    security_risk: securityRisk,
  }),
  message: (args) => args.content,
});

/** The prompt and tools that the agent works with; the first event of most conversations. */
export const SystemAction = defineAction({
  kind: 'system',
  args: () => ({
    content: z.string(),
    tools: z.array(z.record(z.string(), z.unknown())).nullable().default(null),
    openhands_version: z.string().nullable().default(null),
    agent_class: z.string().nullable().default(null),
  }),
  message: (args) => args.content,
});

/** A message from the user, as the first protocol names it. */
export const ChatObservation = defineObservation({ kind: 'chat', extras: () => ({}), message: (_extras, content) => content });
export const MessageObservation = defineObservation({ kind: 'message', extras: () => ({}), message: (_extras, content) => content });
