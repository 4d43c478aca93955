import { RejectAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

export const reject = defineTool({
  name: 'reject',
  description: 'Decline the task, when it must not be done. For what you merely cannot do, call finish.',
  needsSandbox: false,
  parameters: z.object({ reason: z.string().describe('For the user: why.') }),
  toAction: ({ reason }) => RejectAction.create({ outputs: { reason } }),
});
