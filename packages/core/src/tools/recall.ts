import { RecallAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** Looks in the log of this conversation and of the user's others; `use_skill` is a recall of the type `knowledge`. */
export const recallTool = defineTool({
  name: 'recall',
  description: 'Search this conversation, also what was summarized, and the user’s earlier ones for places with all the words.',
  needsSandbox: false,
  parameters: z.object({ query: z.string().min(3).max(200).describe('A few distinctive words: names, paths, messages.') }),
  toAction: ({ query }) => RecallAction.create({ recall_type: 'default', query }),
});
