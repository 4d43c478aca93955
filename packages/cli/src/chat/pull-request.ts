import type { WorkspaceRepository } from '@tendon/protocol';
import { printable } from '../terminal/printable.ts';
import type { ChatSession } from './chat-session.ts';

/** The steps for a pull request, decided from the current repository. */
export interface PullRequestPlan {
  readonly title: string;
  /** `undefined`: the branch that is checked out. */
  readonly newBranch?: string;
  /** Files that are not committed. */
  readonly files: number;
  readonly repository: string;
  readonly target: string;
  readonly source: string;
}

/**
 * Returns a sentence with what to do if there can be no pull request.
 * @internal
 */
export function planPullRequest(repository: WorkspaceRepository | null, title: string): PullRequestPlan | string {
  if (!repository) return 'There is no git repository here: nothing to ask a pull request for.';
  const { branch, branches, remote, uncommitted, default_branch: usual } = repository;
  if (!remote) return 'The remote "origin" is at no git provider that is known here: add it (git remote add origin ADDRESS).';
  if (!remote.has_token) return `There is no token for ${remote.provider}: store one in the settings of the page (/open), then /pr again.`;
  const target = usual ?? 'main';
  const isNew = branch === null || branch === target;
  if (isNew && uncommitted.count === 0 && (branch === null || repository.ahead === 0))
    return 'Nothing was changed: there is nothing to ask for.';
  const newBranch = isNew ? freeName(title, branches) : undefined;
  const source = newBranch ?? branch!;
  return { title, ...(newBranch !== undefined && { newBranch }), files: uncommitted.count, repository: remote.repository, target, source };
}

/**
 * Describes the steps, one line each.
 * @internal
 */
export function planWords({ title, newBranch, files, repository, target, source }: PullRequestPlan): readonly string[] {
  return [
    ...(newBranch === undefined ? [] : [`make the branch ${newBranch}`]),
    ...(files === 0 ? [] : [`commit ${files} ${files === 1 ? 'file' : 'files'}: ${title}`]),
    `push ${source} to ${repository}`,
    `open a pull request into ${target}: ${title}`,
  ];
}

const MAX_TITLE = 100;

/** Carries out the steps as the user, in the sandbox, through the routes of the web app; `words` is the title. */
export async function openPullRequest(session: ChatSession, words: string): Promise<void> {
  const { connection, rest } = session;
  if (!connection) return session.say('Nothing was done yet.');
  const id = connection.conversationId;
  if (session.isAtWork) return session.say('The agent is at work: /pr when it has ended, or Ctrl-C first.');
  const [{ repository }, info] = await Promise.all([rest.review.repository(id, { isWaking: true }), rest.conversations.get(id)]);
  const title = (words === '' ? (info?.title ?? '') : words).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE).toWellFormed();
  const plan = planPullRequest(repository, title || 'Changes');
  if (typeof plan === 'string') return session.say(printable(plan));
  session.say(['This will', ...planWords(plan).map((step) => `  · ${printable(step)}`)].join('\n'));
  if (!(await session.consents('  [y] do it   [n] leave it   /pr TITLE names it'))) return session.say('Nothing was done.');
  session.working('Opening the pull request');
  if (plan.newBranch !== undefined && !(await isDone(session, rest.review.branch(id, plan.newBranch), 'The branch was not made'))) return;
  if (plan.files > 0 && !(await isDone(session, rest.review.commit(id, { message: plan.title }), 'Nothing was committed'))) return;
  const { url } = await rest.review.openPullRequest(id, { repository: plan.repository, target: plan.target, title: plan.title });
  session.say(`The pull request is open: ${printable(url)}`);
}

async function isDone(
  session: ChatSession,
  step: Promise<{ readonly exit_code: number; readonly output: string }>,
  problem: string,
): Promise<boolean> {
  const { exit_code: code, output } = await step;
  if (code !== 0) session.say(`${problem} (exit ${code}):\n${printable(output).trimEnd().split('\n').slice(-8).join('\n')}`);
  return code === 0;
}

/** A new branch name for this title. */
function freeName(title: string, taken: readonly string[]): string {
  const slug = title
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  const name = `tendon/${slug || 'changes'}`;
  let number = 1;
  while (taken.includes(number === 1 ? name : `${name}-${number}`)) number += 1;
  return number === 1 ? name : `${name}-${number}`;
}
