import { defineTool, type Tool } from '@tendon/core';
import { CallToolMcpAction } from '@tendon/protocol';
import { z } from 'zod';
import { RepositoryName } from '../../git-providers/provider-questions.ts';
import type { PullRequestParams } from '../../git-providers/apis/provider-api.ts';

/** A tool that opens a pull request, with the names and arguments by which clients of 0.62 know it. */
export interface PullRequestTool {
  readonly tool: Tool;
  /** `args` have passed the tool. */
  toParams(args: Readonly<Record<string, unknown>>): PullRequestParams;
}

const MAX_BODY_CHARS = 65_536;

const ownerAndName = RepositoryName.refine((name) => name.split('/').length === 2, 'a repository is named owner/name');
const branch = z
  .string()
  .max(255)
  // No pattern: models are offered this schema, and not every one of them knows classes of Unicode.
  .refine((name) => /^[^\s\p{Cc}~^?*[\\]+$/u.test(name), 'this is no name of a branch');
const sourceBranch = branch.describe('The branch with the changes; it must be pushed.');
const branches = { source_branch: sourceBranch, target_branch: branch.describe('The branch that they are for.') };
const title = z.string().trim().min(1, 'a title is expected').max(255);
const text = z.string().max(MAX_BODY_CHARS).optional().describe('What changes and why, as Markdown.');
const labels = z.array(z.string().trim().min(1).max(100)).max(20).optional().describe('Labels that the repository already has.');
/** A path, or the same as one segment of an address. */
const project = z
  .union([z.number().int().positive(), z.string().max(300)], { error: 'the number of a project or its path is expected' })
  .refine(
    (id) => /^\d+$/.test(String(id)) || RepositoryName.safeParse(pathOf(id)).success,
    'the number of a project or its path is expected',
  )
  .describe('The project: its number, or its path as group/project.');

export const PULL_REQUEST_TOOLS: readonly PullRequestTool[] = [
  pullRequestTool({
    name: 'create_pr',
    description: 'Open a pull request on GitHub for a branch that is pushed. Gives its address; one that is open already is given again.',
    parameters: z.object({
      repo_name: ownerAndName.describe('The repository, as owner/name.'),
      ...branches,
      title,
      body: text,
      draft: z.boolean().optional().describe('Whether it is a draft; default: true.'),
      labels,
    }),
    toParams: ({ repo_name, source_branch, target_branch, draft = true, ...args }) => ({
      repository: repo_name,
      source: source_branch,
      target: target_branch,
      title: args.title,
      body: args.body ?? '',
      isDraft: draft,
      labels: args.labels ?? [],
    }),
  }),
  pullRequestTool({
    name: 'create_mr',
    description: 'Open a merge request on GitLab for a branch that is pushed. Gives its address; one that is open already is given again.',
    parameters: z.object({
      id: project,
      ...branches,
      title: title.describe('The title; "Draft: " before it makes it a draft.'),
      description: text,
      labels,
    }),
    toParams: ({ id, source_branch, target_branch, ...args }) => ({
      repository: pathOf(id),
      source: source_branch,
      target: target_branch,
      title: args.title,
      body: args.description ?? '',
      isDraft: false,
      labels: args.labels ?? [],
    }),
  }),
  pullRequestTool({
    name: 'create_bitbucket_pr',
    description:
      'Open a pull request on Bitbucket for a branch that is pushed. Gives its address; one that is open already is given again.',
    parameters: z.object({
      repo_name: ownerAndName.describe('The repository, as workspace/name.'),
      ...branches,
      title,
      description: text,
    }),
    toParams: ({ repo_name, source_branch, target_branch, ...args }) => ({
      repository: repo_name,
      source: source_branch,
      target: target_branch,
      title: args.title,
      body: args.description ?? '',
      isDraft: false,
      labels: [],
    }),
  }),
];

function pullRequestTool<S extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly parameters: S;
  readonly toParams: (args: z.output<S>) => PullRequestParams;
}): PullRequestTool {
  const { name, description, parameters, toParams } = definition;
  const toAction = (args: z.output<S>) => CallToolMcpAction.create({ name, arguments: args });
  return {
    tool: defineTool({ name, description, parameters, needsSandbox: false, toAction }),
    // As the tool reads it: what is null is not given.
    toParams: (args) => toParams(parameters.parse(Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)))),
  };
}

function pathOf(id: number | string): string {
  return String(id).replaceAll(/%2F/gi, '/');
}
