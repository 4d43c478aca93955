import { TriggerMention, type CreateTrigger } from '@tendon/protocol';
import { readRepository } from '../git-providers/repository-source.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import { isTimeZone, parseCron } from './cron.ts';
import { MENTION_PROMPT } from './delivery-prompt.ts';
import type { NewTrigger } from './trigger-store.ts';

export type CheckedTrigger = { readonly ok: true; readonly trigger: NewTrigger } | { readonly ok: false; readonly problem: string };

/** Builds a trigger from the parameters, or explains in one sentence what is wrong with them. */
export function checkTrigger(given: CreateTrigger, tokens: Pick<GitAccounts, 'set'>): CheckedTrigger {
  const { kind } = given;
  const isMention = kind === 'github' || kind === 'gitlab';
  const mention = isMention ? (given.mention ?? TriggerMention.parse({})) : null;
  const schedule = kind === 'schedule' ? (given.schedule ?? null) : null;
  const prompt = given.prompt ?? (isMention ? MENTION_PROMPT : undefined);
  const git_provider = isMention ? kind : (given.git_provider ?? null);
  const repository = given.repository ?? null;
  if (prompt === undefined) return wrong('"prompt" is missing: what the agent is asked');
  const problem =
    scheduleProblem(kind, schedule) ?? mentionProblem(kind, mention) ?? repositoryProblem({ ...given, git_provider, repository }, tokens);
  if (problem !== undefined) return wrong(problem);
  if (isMention && repository !== null && !/^[\w.-]+(\/[\w.-]+)+$/.test(repository)) return wrong('"repository" is named owner/name');
  return {
    ok: true,
    trigger: {
      name: given.name,
      kind,
      prompt,
      schedule,
      mention,
      repository,
      branch: given.branch ?? null,
      git_provider,
      agent: given.agent ?? null,
      max_per_hour: given.max_per_hour,
      posts_result: given.posts_result,
      post_to: isMention ? null : (given.post_to ?? null),
    },
  };
}

function scheduleProblem(kind: string, schedule: NewTrigger['schedule']): string | undefined {
  if (kind !== 'schedule') return undefined;
  if (!schedule) return '"schedule" is missing: {"cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin"}';
  const parsed = parseCron(schedule.cron);
  if (!parsed.ok) return `"cron": ${parsed.problem}`;
  return isTimeZone(schedule.time_zone) ? undefined : `"${schedule.time_zone}" is no time zone: a name such as Europe/Berlin is expected`;
}

function mentionProblem(kind: string, mention: TriggerMention | null): string | undefined {
  if (!mention) return undefined;
  const { phrase, label, allowed_users } = mention;
  if (kind === 'gitlab' && allowed_users.length === 0) {
    return '"allowed_users" is missing: GitLab does not report what the author of a comment may do, so the names of those who may fire it are needed';
  }
  if (kind === 'gitlab' && phrase === null) return '"phrase" is missing: on GitLab only a mention fires a trigger';
  return phrase === null && label === null ? 'a phrase or a label is needed: nothing would fire it' : undefined;
}

type RepositoryParts = Pick<NewTrigger, 'repository' | 'git_provider'> & Pick<CreateTrigger, 'branch'>;

function repositoryProblem(
  { repository, branch, git_provider: provider }: RepositoryParts,
  tokens: Pick<GitAccounts, 'set'>,
): string | undefined {
  if (repository === null) return branch ? '"repository" is missing: a branch is one of a repository' : undefined;
  const read = readRepository({ repository, branch: branch ?? null, provider }, tokens);
  return read.ok ? undefined : `"repository": ${read.problem}`;
}

function wrong(problem: string): CheckedTrigger {
  return { ok: false, problem };
}
