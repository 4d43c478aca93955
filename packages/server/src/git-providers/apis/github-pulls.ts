import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { PullRequest, PullRequests } from './pull-requests.ts';

const Pull = z.object({ number: z.number().int(), html_url: z.string() });

export function githubPulls({ rest }: Octokit, named: (repository: string) => { owner: string; repo: string }): PullRequests {
  return {
    async open({ repository, source, target, title, body, isDraft, labels }) {
      const at = named(repository);
      const { data } = await rest.pulls.create({ ...at, head: source, base: target, title, body, draft: isDraft });
      const opened = pullFrom(data);
      if (labels.length === 0) return opened;
      const labelled = await rest.issues.addLabels({ ...at, issue_number: opened.number, labels: [...labels] }).then(
        () => true,
        () => false,
      );
      return labelled ? opened : { ...opened, remark: 'It is open, but its labels could not be set.' };
    },
    async find({ repository, source, target }) {
      const at = named(repository);
      // A branch of a fork is named `owner:branch` as it is; without an owner the filter would not count.
      const head = source.includes(':') ? source : `${at.owner}:${source}`;
      const { data } = await rest.pulls.list({ ...at, head, base: target, state: 'open', per_page: 1 });
      const found = data.find(({ head: { ref } }) => head.endsWith(`:${ref}`));
      return found && pullFrom(found);
    },
  };
}

function pullFrom(given: unknown): PullRequest {
  const { number, html_url } = Pull.parse(given);
  return { number, url: html_url };
}
