import type { MergeRequests } from '@gitbeaker/core';
import { z } from 'zod';
import type { PullRequest, PullRequests } from './pull-requests.ts';

const MergeRequest = z.object({ iid: z.number(), web_url: z.string() });

/** GitLab calls them merge requests. A draft says so in its title. */
export function gitlabMergeRequests(mergeRequests: MergeRequests): PullRequests {
  return {
    async open({ repository, source, target, title, body, isDraft, labels }) {
      const options = { description: body, ...(labels.length > 0 && { labels: labels.join(',') }) };
      return pullFrom(await mergeRequests.create(repository, source, target, isDraft ? `Draft: ${title}` : title, options));
    },
    async find({ repository, source, target }) {
      const wish = { projectId: repository, state: 'opened', sourceBranch: source, targetBranch: target } as const;
      const [found] = await mergeRequests.all({ ...wish, perPage: 1, maxPages: 1 });
      return found && pullFrom(found);
    },
  };
}

function pullFrom(given: unknown): PullRequest {
  const { iid, web_url } = MergeRequest.parse(given);
  return { number: iid, url: web_url };
}
