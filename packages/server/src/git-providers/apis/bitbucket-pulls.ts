import { z } from 'zod';
import type { PullRequest, PullRequests } from './pull-requests.ts';

const Pull = z.object({ id: z.number(), links: z.object({ html: z.object({ href: z.string() }) }) });
const Pulls = z.object({ values: z.array(Pull) });

/** `ask`: a request below that repository; with a body it is a POST. */
export function bitbucketPulls(
  ask: (
    repository: string,
    path: string,
    request: { readonly query?: Readonly<Record<string, string>>; readonly body?: object },
  ) => Promise<Response>,
): PullRequests {
  const branch = (name: string) => ({ branch: { name } });
  return {
    async open({ repository, source, target, title, body, isDraft }) {
      const wish = { title, description: body, source: branch(source), destination: branch(target), draft: isDraft };
      return pullFrom(Pull.parse(await (await ask(repository, 'pullrequests', { body: wish })).json()));
    },
    async find({ repository, source, target }) {
      const q = `state = "OPEN" AND source.branch.name = ${JSON.stringify(source)} AND destination.branch.name = ${JSON.stringify(target)}`;
      const { values } = Pulls.parse(await (await ask(repository, 'pullrequests', { query: { q, pagelen: '1' } })).json());
      return values[0] && pullFrom(values[0]);
    },
  };
}

function pullFrom({ id, links }: z.output<typeof Pull>): PullRequest {
  return { number: id, url: links.html.href };
}
