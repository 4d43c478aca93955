import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { SuggestedTask } from './provider-api.ts';

const QUERY = `query {
  viewer {
    pullRequests(first: 50, states: [OPEN], orderBy: { field: UPDATED_AT, direction: DESC }) {
      nodes {
        number title repository { nameWithOwner } mergeable
        commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
        reviews(last: 50, states: [CHANGES_REQUESTED, COMMENTED]) { nodes { state } }
      }
    }
  }
  search(query: "is:open is:issue assignee:@me sort:updated-desc", type: ISSUE, first: 50) {
    nodes { ... on Issue { number title repository { nameWithOwner } } }
  }
}`;

const Named = z.object({ number: z.number(), title: z.string(), repository: z.object({ nameWithOwner: z.string() }) });
const PullRequest = Named.extend({
  mergeable: z.string().nullish(),
  commits: z.object({
    nodes: z.array(z.object({ commit: z.object({ statusCheckRollup: z.object({ state: z.string() }).nullish() }) })),
  }),
  reviews: z.object({ nodes: z.array(z.object({ state: z.string() })) }),
});
const Answer = z.object({
  viewer: z.object({ pullRequests: z.object({ nodes: z.array(PullRequest) }) }),
  search: z.object({ nodes: z.array(Named) }),
});

/** The user's open pull requests that something is wrong with, and the open issues assigned to the user. */
export async function githubTasks(octokit: Octokit): Promise<readonly SuggestedTask[]> {
  const { viewer, search } = Answer.parse(await octokit.graphql(QUERY));
  const pulls = viewer.pullRequests.nodes.flatMap((pull) => {
    const type = typeOf(pull);
    return type ? [taskFrom(pull, type)] : [];
  });
  return [...pulls, ...search.nodes.map((issue) => taskFrom(issue, 'OPEN_ISSUE'))];
}

function typeOf({ mergeable, commits, reviews }: z.output<typeof PullRequest>): SuggestedTask['task_type'] | undefined {
  if (mergeable === 'CONFLICTING') return 'MERGE_CONFLICTS';
  const state = commits.nodes[0]?.commit.statusCheckRollup?.state;
  if (state === 'FAILURE' || state === 'ERROR') return 'FAILING_CHECKS';
  return reviews.nodes.length > 0 ? 'UNRESOLVED_COMMENTS' : undefined;
}

function taskFrom({ number, title, repository }: z.output<typeof Named>, task_type: SuggestedTask['task_type']): SuggestedTask {
  return { git_provider: 'github', task_type, repo: repository.nameWithOwner, issue_number: number, title };
}
