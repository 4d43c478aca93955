import { RecallAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** Writes a line that later conversations begin with. */
export const noteTool = defineTool({
  name: 'note',
  description: 'Remember a lasting fact for later conversations: a preference, a correction, how to build. No secrets.',
  needsSandbox: false,
  parameters: z.object({
    about: z.enum(['user', 'repository']),
    text: z.string().max(300).describe('One line; empty removes `old`.'),
    old: z.string().max(300).optional().describe('The line to replace.'),
  }),
  toAction: ({ about, text, old }) =>
    RecallAction.create({ recall_type: 'default', query: text, note: { about, ...(old && { replaces: old }) } }),
});
