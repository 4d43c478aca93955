import {
  catalogError,
  CommandOutcome,
  CommitChanges,
  NewBranch,
  OpenPullRequest,
  OpenedPullRequest,
  RepositoryAnswer,
  type CatalogError,
} from '@tendon/protocol';
import { shellQuote } from '@tendon/protocol/executor-api';
import { z } from 'zod';
import type { Conversations } from '../conversations/conversations.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import { committerOf } from '../git/repository/repository-of.ts';
import type { Routes } from '../platform/http/app.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import { ById } from '../platform/http/request-parts.ts';
import { isUntouched, wordsOf, workspaceOf } from '../sandboxes/workspace-of.ts';
import type { SettingsStore } from '../settings/settings.ts';
import { runAsUser } from './act-as-user.ts';
import { CHANGES, failures, type ReviewContext } from './changes-routes.ts';
import { pullRequestCall, pushCommand, whyNoPullRequest } from './pull-request.ts';
import { repositoryState, type RepositoryState } from './repository-state.ts';

interface RepositoryContext extends ReviewContext {
  readonly conversations: Pick<Conversations, 'notePullRequest' | 'get'> & ReviewContext['conversations'];
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly settings: Pick<SettingsStore, 'current'>;
}

const PUSH_SECONDS = 110;

/** The conversation's repository, and what a person does with it without a terminal: commands of the user's, which the agent sees. */
export const workspaceRepositoryRoutes: Routes<RepositoryContext> = (app, context) => {
  const { conversations } = context;

  const status = {
    params: ById,
    querystring: z.object({ wake: z.enum(['0', '1']).default('1') }),
    response: { 200: RepositoryAnswer, ...failures },
  };
  app.get(`${CHANGES}/repository`, { schema: status }, async ({ params: { id }, query }, reply) => {
    if (!(await conversations.get(id))) return sendFailure(reply, catalogError('CONVERSATION_NOT_FOUND', id));
    if (await isUntouched(context, id)) return { state: 'compared' as const, repository: null };
    if (query.wake === '0' && context.runtimes.current(id) === undefined) return { state: 'suspended' as const, repository: null };
    const found = await repositoryIn(context, id);
    if (!('code' in found)) return { state: 'compared' as const, repository: found.state.shown };
    return found.code === 'NOT_FOUND' ? { state: 'compared' as const, repository: null } : sendFailure(reply, found);
  });

  const commit = { params: ById, body: CommitChanges, response: { 200: CommandOutcome, ...failures } };
  app.post(`${CHANGES}/commit`, { schema: commit }, async ({ params: { id }, body, principal: by }, reply) => {
    const found = await repositoryIn(context, id);
    if ('code' in found) return sendFailure(reply, found);
    const outcome = await runAsUser(conversations, id, {
      command: commitCommand(found.state, body, committerOf(context.settings)),
      cwd: found.cwd,
      by,
    });
    return 'code' in outcome ? sendFailure(reply, outcome) : outcome;
  });

  const branch = { params: ById, body: NewBranch, response: { 200: CommandOutcome, ...failures } };
  app.post(`${CHANGES}/branch`, { schema: branch }, async ({ params: { id }, body, principal: by }, reply) => {
    const found = await repositoryIn(context, id);
    if ('code' in found) return sendFailure(reply, found);
    const outcome = await runAsUser(conversations, id, { command: `git switch -c ${shellQuote(body.name)}`, cwd: found.cwd, by });
    return 'code' in outcome ? sendFailure(reply, outcome) : outcome;
  });

  const pull = { params: ById, body: OpenPullRequest, response: { 200: OpenedPullRequest, ...failures } };
  app.post(`${CHANGES}/pull-request`, { schema: pull }, async ({ params: { id }, body, principal: by }, reply) => {
    const found = await repositoryIn(context, id);
    if ('code' in found) return sendFailure(reply, found);
    const { shown } = found.state;
    const problem = whyNoPullRequest(shown, body);
    if (problem !== undefined) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', problem));
    const pushed = await runAsUser(conversations, id, { command: pushCommand(shown), cwd: found.cwd, timeout: PUSH_SECONDS, by });
    if ('code' in pushed) return sendFailure(reply, pushed);
    if (pushed.exit_code !== 0)
      return sendFailure(reply, catalogError('RUNTIME_FAILED', `the branch was not pushed: ${pushed.output.slice(-1000)}`));
    // Loaded when somebody asks.
    const { openPullRequest } = await import('../git/pull-requests/open-pull-request.ts');
    const answer = await openPullRequest(
      { ...pullRequestCall(shown, body), conversation: id },
      { conversations, providerTokens: await accountsOf(context, id) },
    );
    if (!answer.ok) return reply.code(400).send(failureWith(answer.problem));
    return { url: answer.text.split('\n')[0]!, event_id: pushed.event_id };
  });
};

/** Those that its agent has. */
async function accountsOf({ conversations, gitAccounts }: RepositoryContext, id: string): Promise<GitAccounts> {
  return gitAccounts.of((await conversations.get(id)) ?? {});
}

interface Found {
  readonly state: RepositoryState;
  /** Of the repository, for what runs in the sandbox. */
  readonly cwd: string;
}

async function repositoryIn(context: RepositoryContext, id: string): Promise<Found | CatalogError> {
  const workspace = await workspaceOf(context, id);
  if ('code' in workspace) return workspace;
  try {
    const state = await repositoryState(workspace, { tokens: await accountsOf(context, id), now: context.clock.now() });
    return state ? { state, cwd: `${workspace.root}/${state.shown.folder}` } : catalogError('NOT_FOUND');
  } catch (cause) {
    return catalogError('RUNTIME_FAILED', wordsOf(cause));
  }
}

function commitCommand(
  { hasIdentity }: RepositoryState,
  { message, paths }: z.output<typeof CommitChanges>,
  { name, email }: ReturnType<typeof committerOf>,
): string {
  const identity = hasIdentity ? '' : ` -c ${shellQuote(`user.name=${name}`)} -c ${shellQuote(`user.email=${email}`)}`;
  const only = paths ? ` -- ${paths.map(shellQuote).join(' ')}` : '';
  return `git --literal-pathspecs add -A${only} && git --literal-pathspecs${identity} commit -m ${shellQuote(message)}${only}`;
}
