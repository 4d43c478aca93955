import type { TriggerMention } from '@tendon/protocol';
import { z } from 'zod';

/** What was asked, by whom and about what. Everything in it comes from the provider, most of it from strangers. */
export interface Mention {
  readonly repository: string;
  readonly number: number;
  readonly isPullRequest: boolean;
  /** The author's login. Permission is checked before the mention is used. */
  readonly author: string;
  /** What the author wrote to the agent; `null` for a label. */
  readonly request: string | null;
  /** The issue or pull request, which anybody may have written. */
  readonly about: string;
  readonly branch: string | null;
}

export type MentionResult = { readonly ok: true; readonly mention: Mention } | { readonly ok: false; readonly reason: string };

/** Marks comments of this server; the id of the delivery follows. */
export const COMMENT_MARK = '<!-- tendon-delivery:';

const Repository = z.object({ full_name: z.string().max(300) });
const User = z.object({ login: z.string().max(100), type: z.string().optional() });
const association = z.string().optional();
const Issue = z.object({
  number: z.number().int().positive(),
  title: z.string().nullish(),
  body: z.string().nullish(),
  author_association: association,
  user: User.nullish(),
  pull_request: z.unknown().optional(),
});
const Comment = z.object({
  body: z.string().nullish(),
  user: User.nullish(),
  author_association: association,
  path: z.string().optional(),
  diff_hunk: z.string().optional(),
});
const Pull = z.object({
  number: z.number().int().positive(),
  title: z.string().nullish(),
  body: z.string().nullish(),
  head: z.object({ ref: z.string().max(250), repo: Repository.nullish() }),
});
const base = { action: z.string(), repository: Repository, sender: User };
const IssueComment = z.object({ ...base, issue: Issue, comment: Comment });
const ReviewComment = z.object({ ...base, pull_request: Pull, comment: Comment });
const IssueEvent = z.object({ ...base, issue: Issue, label: z.object({ name: z.string() }).optional() });

const TRUSTED: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** An `issue_comment`, `pull_request_review_comment` or `issues` event of GitHub. */
export function readGithubEvent(event: string, payload: unknown, wanted: TriggerMention): MentionResult {
  if (event === 'ping') return ignored('it is a ping: the webhook works');
  if (event === 'issue_comment') return issueComment(IssueComment.safeParse(payload), wanted);
  if (event === 'pull_request_review_comment') return reviewComment(ReviewComment.safeParse(payload), wanted);
  if (event === 'issues') return issueEvent(IssueEvent.safeParse(payload), wanted);
  return ignored(`"${event.slice(0, 50)}" is no event that fires a trigger`);
}

type Parsed<T> = { readonly success: true; readonly data: T } | { readonly success: false };

function issueComment(parsed: Parsed<z.output<typeof IssueComment>>, wanted: TriggerMention): MentionResult {
  if (!parsed.success) return UNREADABLE;
  const { action, issue, comment, repository, sender } = parsed.data;
  const author = comment.user ?? sender;
  const refusal = action === 'created' ? refusalOf({ ...comment, user: author }, wanted) : NOT_NEW;
  if (refusal) return refusal;
  return found({
    repository,
    number: issue.number,
    isPullRequest: Boolean(issue.pull_request),
    author,
    request: comment.body,
    about: textOf(issue),
  });
}

function reviewComment(parsed: Parsed<z.output<typeof ReviewComment>>, wanted: TriggerMention): MentionResult {
  if (!parsed.success) return UNREADABLE;
  const { action, pull_request: pull, comment, repository, sender } = parsed.data;
  const author = comment.user ?? sender;
  const refusal = action === 'created' ? refusalOf({ ...comment, user: author }, wanted) : NOT_NEW;
  if (refusal) return refusal;
  const place = comment.path === undefined ? '' : `\n\nThe comment is on ${comment.path}:\n${comment.diff_hunk ?? ''}`;
  // The branch of a fork is not in the repository that is cloned.
  const branch = pull.head.repo?.full_name === repository.full_name ? pull.head.ref : null;
  return found({
    repository,
    number: pull.number,
    isPullRequest: true,
    author,
    request: comment.body,
    about: textOf(pull) + place,
    branch,
  });
}

function issueEvent(parsed: Parsed<z.output<typeof IssueEvent>>, wanted: TriggerMention): MentionResult {
  if (!parsed.success) return UNREADABLE;
  const { action, issue, label, repository, sender } = parsed.data;
  const about = { repository, number: issue.number, isPullRequest: false, author: sender, about: textOf(issue) };
  if (action === 'labeled') {
    if (wanted.label === null || label?.name !== wanted.label) return ignored('the label is another one');
    // Many repositories have a bot that sets labels according to what strangers write.
    if (sender.type === 'Bot') return BY_BOT;
    // Only people with write access can label; but a form sets labels in the name of the stranger who opens the issue with it.
    const isOpener = issue.user?.login === sender.login;
    const isTrusted = !isOpener || TRUSTED.has(issue.author_association ?? '');
    const isAllowed = wanted.allowed_users.length === 0 ? isTrusted : isNamed(sender.login, wanted);
    return isAllowed ? found({ ...about, request: null }) : notAllowed(sender.login);
  }
  const refusal =
    action === 'opened' ? refusalOf({ user: sender, body: issue.body, author_association: issue.author_association }, wanted) : NOT_NEW;
  return refusal ?? found({ ...about, request: issue.body });
}

const Note = z.object({
  object_kind: z.literal('note'),
  user: z.object({ username: z.string().max(100) }),
  project: z.object({ path_with_namespace: z.string().max(300) }),
  object_attributes: z.object({
    note: z.string(),
    noteable_type: z.string(),
    action: z.string().optional(),
    system: z.boolean().optional(),
  }),
  issue: z.object({ iid: z.number().int().positive(), title: z.string().nullish(), description: z.string().nullish() }).nullish(),
  merge_request: z
    .object({
      iid: z.number().int().positive(),
      title: z.string().nullish(),
      description: z.string().nullish(),
      source_branch: z.string().max(250).optional(),
      source_project_id: z.number().optional(),
      target_project_id: z.number().optional(),
    })
    .nullish(),
});

/** A note hook of GitLab, which does not say what its author may do: only `allowed_users` fire it. */
export function readGitlabEvent(event: string, payload: unknown, wanted: TriggerMention): MentionResult {
  // The answer would be posted where more people can read it than the comment.
  if (event === 'Confidential Note Hook') return ignored('it is a confidential comment, and the result would be a public one');
  const parsed = Note.safeParse(payload);
  if (!parsed.success) return event === 'Note Hook' ? UNREADABLE : ignored(`"${event.slice(0, 50)}" is no event that fires a trigger`);
  const { user, project, object_attributes: note, issue, merge_request: merge } = parsed.data;
  const thing = note.noteable_type === 'Issue' ? issue : note.noteable_type === 'MergeRequest' ? merge : undefined;
  if (!thing) return ignored('the comment is on neither an issue nor a merge request');
  if (note.system || (note.action !== undefined && note.action !== 'create')) return NOT_NEW;
  const refusal = refusalOf({ user: { login: user.username }, body: note.note, author_association: undefined }, wanted);
  if (refusal) return refusal;
  const isOwnBranch = merge && thing === merge && merge.source_project_id === merge.target_project_id;
  return found({
    repository: { full_name: project.path_with_namespace },
    number: thing.iid,
    isPullRequest: thing === merge,
    author: { login: user.username },
    request: note.note,
    about: textOf({ title: thing.title, body: thing.description }),
    branch: (isOwnBranch && merge.source_branch) || null,
  });
}

const UNREADABLE = ignored('its payload is not as documented');
const BY_BOT = ignored('its author is a bot');
const NOT_NEW = ignored('it is no new comment and no new label');

interface Words {
  readonly user: z.output<typeof User>;
  readonly body?: string | null | undefined;
  readonly author_association?: string | undefined;
}

function refusalOf({ user, body, author_association }: Words, wanted: TriggerMention): MentionResult | undefined {
  const text = body ?? '';
  if (text.includes(COMMENT_MARK)) return ignored('it is a comment that this server posted');
  if (!mentions(text, wanted.phrase)) return ignored('nothing is mentioned');
  if (user.type === 'Bot') return BY_BOT;
  const isTrusted = wanted.allowed_users.length === 0 ? TRUSTED.has(author_association ?? '') : isNamed(user.login, wanted);
  return isTrusted ? undefined : notAllowed(user.login);
}

function notAllowed(login: string): MentionResult {
  return ignored(`${login.replaceAll(/[^\w.-]/g, '_')} may not fire it`);
}

function isNamed(login: string, { allowed_users }: TriggerMention): boolean {
  return allowed_users.some((name) => name.toLowerCase() === login.toLowerCase());
}

/** Whether the phrase occurs as a word of its own outside quoted lines. */
function mentions(text: string, phrase: string | null): boolean {
  if (phrase === null) return false;
  const wanted = phrase.toLowerCase();
  return text
    .toLowerCase()
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('>'))
    .some((line) => {
      for (let at = line.indexOf(wanted); at >= 0; at = line.indexOf(wanted, at + 1)) {
        const [before, after] = [line.charAt(at - 1), line.charAt(at + wanted.length)];
        if (!/[\w@/.-]/.test(before) && !/[\w-]/.test(after)) return true;
      }
      return false;
    });
}

interface Found extends Omit<Mention, 'repository' | 'author' | 'request' | 'branch'> {
  readonly repository: z.output<typeof Repository>;
  readonly author: z.output<typeof User>;
  readonly request: string | null | undefined;
  readonly branch?: string | null;
}

function found({ repository, author, request, branch = null, ...rest }: Found): MentionResult {
  return { ok: true, mention: { ...rest, repository: repository.full_name, author: author.login, request: request ?? null, branch } };
}

function textOf({ title, body }: { readonly title?: string | null | undefined; readonly body?: string | null | undefined }): string {
  return `${title ?? ''}\n\n${body ?? ''}`.trim();
}

function ignored(reason: string): MentionResult {
  return { ok: false, reason };
}
