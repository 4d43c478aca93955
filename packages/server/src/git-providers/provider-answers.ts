import { z } from 'zod';

/** What is answered about git providers, as 0.62 has it. */
export const UserAnswer = z.object({
  id: z.string(),
  login: z.string(),
  avatar_url: z.string(),
  company: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
});

export const RepositoryAnswer = z.object({
  id: z.string(),
  full_name: z.string(),
  git_provider: z.string(),
  is_public: z.boolean(),
  stargazers_count: z.number(),
  link_header: z.string().nullable(),
  pushed_at: z.string().nullable(),
  owner_type: z.enum(['user', 'organization']),
  main_branch: z.string().nullable(),
});

export const BranchAnswer = z.object({
  name: z.string(),
  commit_sha: z.string(),
  protected: z.boolean(),
  last_push_date: z.string().nullable(),
});

export const BranchPageAnswer = z.object({
  branches: z.array(BranchAnswer),
  has_next_page: z.boolean(),
  current_page: z.number(),
  per_page: z.number(),
  total_count: z.number().nullable(),
});

export const TaskAnswer = z.object({
  git_provider: z.string(),
  task_type: z.enum(['MERGE_CONFLICTS', 'FAILING_CHECKS', 'UNRESOLVED_COMMENTS', 'OPEN_ISSUE']),
  repo: z.string(),
  issue_number: z.number(),
  title: z.string(),
});

export const MicroagentAnswer = z.object({ name: z.string(), path: z.string(), created_at: z.string() });

export const MicroagentContentAnswer = z.object({
  content: z.string(),
  path: z.string(),
  triggers: z.array(z.string()),
  git_provider: z.string(),
});
