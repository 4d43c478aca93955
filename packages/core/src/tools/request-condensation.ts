import { CondensationRequestAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** What a user's request does, before the model is asked again. */
export const requestCondensation = defineTool({
  name: 'request_condensation',
  description:
    'Have the older part of this conversation summarized now: at the end of a part of the work, when its details no longer matter. Your plan and the user’s messages stay.',
  needsSandbox: false,
  parameters: z.object({}),
  toAction: () => CondensationRequestAction.create({}),
});
