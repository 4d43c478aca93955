import { catalogError, RevertChange, RevertedChange } from '@tendon/protocol';
import type { Conversations } from '../conversations/conversations.ts';
import type { Routes } from '../platform/http/app.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import { ById } from '../platform/http/request-parts.ts';
import { wordsOf } from '../sandboxes/workspace-of.ts';
import { whyBusy } from './act-as-user.ts';
import { CHANGES, compareWith, failures, pathInWorkspace, sendUnreadable, type ReviewContext } from './changes-routes.ts';
import { revertChange } from './revert-change.ts';

interface RevertContext extends ReviewContext {
  readonly conversations: ReviewContext['conversations'] & Pick<Conversations, 'state'>;
}

const TIMEOUT_MS = 60_000;

/** A file, or one hunk of it, goes back to what it was: an action of the user's, which can be taken back. */
export const revertRoutes: Routes<RevertContext> = (app, context) => {
  const { conversations } = context;
  const revert = { params: ById, body: RevertChange, response: { 200: RevertedChange, ...failures } };
  app.post(`${CHANGES}/revert`, { schema: revert }, async ({ params: { id }, body, principal: by }, reply) => {
    const path = pathInWorkspace(body.path);
    if (path === undefined) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'path: a path in the workspace is expected'));
    const compared = whyBusy(conversations, id) ?? (await compareWith(context, id, body));
    if ('code' in compared) return sendFailure(reply, compared);
    const { workspace, base } = compared;
    if (base.kind === 'now') return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'nothing has changed since'));
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const result = await revertChange({ conversations, id, workspace, base, signal, now: context.clock.now(), by }, { ...body, path });
      if (result.state === 'reverted') return result.change;
      if (result.state === 'refused') return sendFailure(reply, result.error);
      if (result.state === 'changed') return reply.code(409).send(failureWith('The file has changed since you saw it. Look again.'));
      return sendUnreadable(reply, result.state);
    } catch (cause) {
      return sendFailure(reply, catalogError('RUNTIME_FAILED', wordsOf(cause)));
    }
  });
};
