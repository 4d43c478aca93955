import { RecallAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** Offered where there are skills. */
export const useSkill = defineTool({
  name: 'use_skill',
  description: 'The whole text of one of the skills that the context lists, and its files in the sandbox.',
  needsSandbox: false,
  parameters: z.object({ name: z.string().min(1).max(64) }),
  toAction: ({ name }) => RecallAction.create({ recall_type: 'knowledge', query: name }),
});
