import { MessageAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

export const askUser = defineTool({
  name: 'ask_user',
  description: 'Ask the user what only they can decide, with answers to choose from, and wait. They may also answer in their own words.',
  needsSandbox: false,
  parameters: z.object({
    question: z.string().min(1),
    choices: z.array(z.string().min(1).max(200)).min(2).max(8).describe('Short and distinct; the one you would take first.'),
  }),
  toAction({ question, choices }) {
    if (new Set(choices).size < choices.length) return 'the same choice is there twice.';
    const list = choices.map((choice, index) => `${index + 1}. ${choice}`).join('\n');
    // Clients that know no choices show the text.
    return MessageAction.create({ content: `${question}\n\n${list}`, wait_for_response: true, choices });
  },
});
