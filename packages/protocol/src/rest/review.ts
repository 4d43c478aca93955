import { z } from 'zod';
import { FilePath } from './files.ts';

/** What the workspace is compared with. */
const Against = z
  .string()
  .max(300)
  .regex(
    /^(?:start|turn|published|event:\d{1,15}|checkpoint:\d{1,15}|branch:[^\s~^:?*[\\\p{Cc}-][^\s~^:?*[\\\p{Cc}]*)$/u,
    'start, turn, published, event:ID, checkpoint:NUMBER or branch:NAME is expected',
  )
  .refine((text) => !/\.\.|@\{/.test(text), 'this is no name of a branch');

/** Of `…/changes`: since before an event, and until before another; the end of a turn that is long over. */
export const ChangesQuery = z.object({
  against: Against.default('start'),
  until: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  /** Whether a suspended sandbox is started to look. */
  wake: z.enum(['0', '1']).default('1'),
});

export const ChangedFile = z.object({
  path: z.string(),
  /** Added, modified, deleted, unmerged. */
  status: z.enum(['A', 'M', 'D', 'U']),
  /** Lines; null where they are not counted. */
  added: z.number().int().nullable(),
  removed: z.number().int().nullable(),
  /** Names what it holds now, so that another content can be distinguished; missing where that is not known. */
  content: z.string().optional(),
});
export type ChangedFile = z.output<typeof ChangedFile>;

export const WorkspaceChanges = z.object({
  /** `suspended`: there is no sandbox to look with, and none was started. */
  state: z.enum(['compared', 'suspended']),
  base: z.object({
    /** `now`: nothing has run since, so there is nothing to compare. */
    kind: z.enum(['checkpoint', 'commit', 'now']),
    checkpoint: z.number().int().nullable(),
    made_at: z.string().nullable(),
    /** What a person must know of it, e.g. that the start is no longer stored. */
    note: z.string().nullable(),
  }),
  /** All of them; a bounded number is listed, sorted by path. */
  count: z.number().int(),
  files: z.array(ChangedFile),
});
export type WorkspaceChanges = z.output<typeof WorkspaceChanges>;

export const FileVersionsQuery = ChangesQuery.omit({ wake: true }).extend({ path: FilePath.min(1) });

/** A file as it was and as it is; null where it was or is not there. */
export const FileVersions = z.object({
  original: z.string().nullable(),
  modified: z.string().nullable(),
  /** Names the present content, for what is done to it. */
  version: z.string(),
});
export type FileVersions = z.output<typeof FileVersions>;

/** Counted from 1. Where `count` is 0, the lines stand before `start`. */
const LineSpan = z.object({ start: z.number().int().min(1).max(10_000_000), count: z.number().int().min(0).max(10_000_000) });

export const RevertChange = z.object({
  path: FilePath.min(1),
  against: Against,
  /** Of the content that the person saw. */
  version: z.string().max(100).optional(),
  /** Without it the whole file goes back. */
  hunk: z.object({ old: LineSpan, new: LineSpan }).optional(),
});
export type RevertChange = z.output<typeof RevertChange>;

/** What was done is an action of the user's in the log. */
export const RevertedChange = z.object({
  event_id: z.number().int(),
  /** Restoring this path to this checkpoint takes it back; null where nothing was stored. */
  undo: z.object({ checkpoint: z.number().int(), paths: z.array(z.string()) }).nullable(),
});
export type RevertedChange = z.output<typeof RevertedChange>;

/**
 * A branch as git takes it, and nothing that a command could take for an option.
 * @internal
 */
export const BranchName = z
  .string()
  .max(250)
  .regex(/^[^\s~^:?*[\\\p{Cc}-][^\s~^:?*[\\\p{Cc}]*$/u, 'this is no name of a branch')
  .refine((name) => !/\.\.|@\{|\/\/|\.lock$|\/$|\.$|^\/|\/\./.test(name), 'this is no name of a branch');

export const WorkspaceRepository = z.object({
  /** The folder in the workspace, with a slash at its end; empty where that is the repository. */
  folder: z.string(),
  /** Null: none is checked out. */
  branch: z.string().nullable(),
  /** Commits that are not on the branch's upstream; null where it has none. */
  ahead: z.number().int().nullable(),
  /** The newest first. */
  branches: z.array(z.string()),
  /** The branch on which others build, as the remote says. */
  default_branch: z.string().nullable(),
  /** Where a pull request would be opened; null where `origin` is at no provider that is known. */
  remote: z.object({ provider: z.enum(['github', 'gitlab', 'bitbucket']), repository: z.string(), has_token: z.boolean() }).nullable(),
  /** Not committed yet: all of them, and a bounded number of their paths in the repository. */
  uncommitted: z.object({ count: z.number().int(), paths: z.array(z.string()) }),
});
export type WorkspaceRepository = z.output<typeof WorkspaceRepository>;

/** `repository` is null without one. */
export const RepositoryAnswer = z.object({ state: z.enum(['compared', 'suspended']), repository: WorkspaceRepository.nullable() });
export type RepositoryAnswer = z.output<typeof RepositoryAnswer>;

export const CommitChanges = z.object({
  message: z.string().trim().min(1, 'a message is expected').max(10_000),
  /** In the repository; without them everything that is not committed. */
  paths: z.array(FilePath.min(1)).min(1).max(500).optional(),
});

export const NewBranch = z.object({ name: BranchName });

/** What a command of the user's printed at its end. */
export const CommandOutcome = z.object({ event_id: z.number().int(), exit_code: z.number().int(), output: z.string() });
export type CommandOutcome = z.output<typeof CommandOutcome>;

export const OpenPullRequest = z.object({
  /** As the person saw it: another one than the remote's is refused. */
  repository: z.string().min(1).max(300),
  target: BranchName,
  title: z.string().trim().min(1, 'a title is expected').max(255),
  body: z.string().max(65_536).default(''),
  draft: z.boolean().default(false),
});
export type OpenPullRequest = z.input<typeof OpenPullRequest>;

export const OpenedPullRequest = z.object({
  url: z.string(),
  /** The push. */
  event_id: z.number().int(),
});
export type OpenedPullRequest = z.output<typeof OpenedPullRequest>;
