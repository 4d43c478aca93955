import type { OpenPullRequest, WorkspaceRepository } from '@tendon/protocol';
import { shellQuote } from '@tendon/protocol/executor-api';
import type { z } from 'zod';

type Request = z.output<typeof OpenPullRequest>;

/** The address is the agent's to change: what the person saw counts. */
export function whyNoPullRequest({ branch, remote }: WorkspaceRepository, { repository, target }: Request): string | undefined {
  if (branch === null) return 'no branch is checked out; make one first';
  if (branch === target) return `the branch ${branch} cannot be asked into itself; make another one first`;
  if (!remote) return 'the remote "origin" is at no git provider that is known here';
  if (remote.repository !== repository) return `the remote "origin" is ${remote.repository} now, not ${repository}`;
  return remote.has_token ? undefined : `there is no token for ${remote.provider}; store one in the settings`;
}

export function pushCommand({ branch }: WorkspaceRepository): string {
  return `git push -u origin ${shellQuote(`HEAD:refs/heads/${branch}`)}`;
}

/** The call of the tool by which agents open one at this provider. */
export function pullRequestCall(
  { branch, remote }: WorkspaceRepository,
  request: Request,
): { name: string; args: Record<string, unknown> } {
  const { repository, target, title, body, draft } = request;
  const args = { source_branch: branch, target_branch: target, title };
  if (remote!.provider === 'github') return { name: 'create_pr', args: { ...args, repo_name: repository, body, draft } };
  if (remote!.provider === 'gitlab') return { name: 'create_mr', args: { ...args, id: repository, description: body } };
  return { name: 'create_bitbucket_pr', args: { ...args, repo_name: repository, description: body } };
}
