import type { Issues, MergeRequests } from '@gitbeaker/core';
import { z } from 'zod';
import type { SuggestedTask } from './provider-api.ts';

/** Each is looked at by itself for its pipeline. */
const MAX_MERGE_REQUESTS = 20;

const Named = z.object({ iid: z.number(), title: z.string(), references: z.object({ full: z.string() }) });
const MergeRequest = Named.extend({
  project_id: z.number(),
  has_conflicts: z.boolean().nullish(),
  blocking_discussions_resolved: z.boolean().nullish(),
});
const Detail = z.object({ head_pipeline: z.object({ status: z.string() }).nullish() });

/** The user's open merge requests that something is wrong with, and the open issues assigned to the user. */
export async function gitlabTasks(mergeRequests: MergeRequests, issues: Issues): Promise<readonly SuggestedTask[]> {
  const [requests, assigned] = await Promise.all([
    mergeRequests.all({ scope: 'created_by_me', state: 'opened', perPage: MAX_MERGE_REQUESTS, maxPages: 1 }),
    issues.all({ scope: 'assigned_to_me', state: 'opened', perPage: 50, maxPages: 1 }),
  ]);
  const checked = await Promise.all(
    z
      .array(MergeRequest)
      .parse(requests)
      .map(async (request) => ({ request, type: await typeOf(request, mergeRequests) })),
  );
  return [
    ...checked.flatMap(({ request, type }) => (type ? [taskFrom(request, type)] : [])),
    ...z
      .array(Named)
      .parse(assigned)
      .map((issue) => taskFrom(issue, 'OPEN_ISSUE')),
  ];
}

async function typeOf(
  { project_id, iid, has_conflicts, blocking_discussions_resolved }: z.output<typeof MergeRequest>,
  mergeRequests: MergeRequests,
): Promise<SuggestedTask['task_type'] | undefined> {
  if (has_conflicts) return 'MERGE_CONFLICTS';
  const { head_pipeline } = Detail.parse(await mergeRequests.show(project_id, iid));
  if (head_pipeline?.status === 'failed') return 'FAILING_CHECKS';
  return blocking_discussions_resolved === false ? 'UNRESOLVED_COMMENTS' : undefined;
}

/** `references.full` is `group/project!7` or `group/project#7`. */
function taskFrom({ iid, title, references }: z.output<typeof Named>, task_type: SuggestedTask['task_type']): SuggestedTask {
  return { git_provider: 'gitlab', task_type, repo: references.full.replace(/[!#]\d+$/, ''), issue_number: iid, title };
}
