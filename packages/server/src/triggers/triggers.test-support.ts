/** A provider with issues that can be commented, and what is sent to a trigger. */
import { createHmac } from 'node:crypto';
import type { CreatedTrigger, Delivered, DeliveryInfo } from '@tendon/protocol';
import { expect } from 'vitest';
import { fakeProvider, type FakeAnswer, type FakeProvider, type FakeRoutes } from '../git-providers/apis/fake-provider.test-support.ts';
import type { TestServer } from '../server.test-support.ts';

const PROVIDER_TOKEN = 'token-0123456789';

/** What a person gives for the least of triggers. */
export const TRIGGER = {
  name: 'builds',
  kind: 'webhook' as const,
  schedule: null,
  mention: null,
  max_per_hour: 30,
  prompt: 'Look.',
  repository: null,
  branch: null,
  git_provider: null,
  agent: null,
  posts_result: false,
  post_to: null,
};

export interface CommentedProvider extends FakeProvider {
  /** Bodies, oldest first. */
  readonly comments: readonly string[];
}

/** `ann/tools` with the issue 9; `answer` replaces that to a post, which is stored before. */
export async function commentedGithub(answer?: (count: number) => FakeAnswer | undefined): Promise<CommentedProvider> {
  const comments: string[] = [];
  const shown = (body: string, at: number) => ({ id: at, body, html_url: `https://github.example/ann/tools/issues/9#c${at}` });
  const path = '/api/v3/repos/ann/tools/issues/9/comments';
  const routes: FakeRoutes = {
    'GET /api/v3/user': () => ({ body: { id: 1, login: 'ann' } }),
    [`GET ${path}`]: () => ({ body: comments.map(shown) }),
    [`POST ${path}`]: (_url, body) => {
      const text = (JSON.parse(body) as { readonly body: string }).body;
      comments.push(text);
      return answer?.(comments.length) ?? { status: 201, body: shown(text, comments.length - 1) };
    },
  };
  return Object.assign(await fakeProvider(PROVIDER_TOKEN, routes), { comments });
}

/** `team/app` with the merge request 4 and the issue 5. */
export async function commentedGitlab(): Promise<CommentedProvider> {
  const comments: string[] = [];
  const notes = (thing: string): FakeRoutes => ({
    [`GET /api/v4/projects/team/app/${thing}/notes`]: () => ({ body: comments.map((body, id) => ({ id, body })) }),
    [`POST /api/v4/projects/team/app/${thing}/notes`]: (_url, body) => {
      comments.push(new URLSearchParams(body).get('body') ?? (JSON.parse(body) as { readonly body: string }).body);
      return { status: 201, body: { id: comments.length - 1, body: comments.at(-1) } };
    },
  });
  const routes = { 'GET /api/v4/user': () => ({ body: { id: 3, username: 'bob' } }), ...notes('merge_requests/4'), ...notes('issues/5') };
  return Object.assign(await fakeProvider(PROVIDER_TOKEN, routes), { comments });
}

export async function storeToken(server: TestServer, provider: 'github' | 'gitlab', { origin }: FakeProvider): Promise<void> {
  const answer = await server.post('/api/add-git-providers', { provider_tokens: { [provider]: { token: PROVIDER_TOKEN, host: origin } } });
  expect(answer.status).toBe(200);
}

export async function addTrigger(server: TestServer, params: object): Promise<CreatedTrigger> {
  const answer = await server.post('/api/triggers', { name: 'a trigger', ...params });
  const body = (await answer.json()) as CreatedTrigger;
  expect([answer.status, body]).toEqual([201, expect.anything()]);
  return body;
}

export interface Sent {
  readonly status: number;
  readonly body: Delivered & { readonly message?: string };
}

/** Raw, as the sender wrote it. */
export async function sendTo(
  server: TestServer,
  trigger: CreatedTrigger,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<Sent> {
  const answer = await fetch(server.url + trigger.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as Sent['body'] };
}

export function bySecret({ secret }: CreatedTrigger, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { authorization: `Bearer ${secret}`, ...more };
}

/** As GitHub signs. */
export function signed({ secret }: CreatedTrigger, body: string, event = 'issue_comment', delivery = 'd-1'): Record<string, string> {
  const signature = createHmac('sha256', secret!).update(body).digest('hex');
  return { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': event, 'x-github-delivery': delivery };
}

export async function deliveriesOf(server: TestServer, { id }: Pick<CreatedTrigger, 'id'>): Promise<readonly DeliveryInfo[]> {
  const answer = await server.get(`/api/triggers/${id}/deliveries`);
  return ((await answer.json()) as { readonly deliveries: readonly DeliveryInfo[] }).deliveries;
}

/** The newest, when it is at its end. */
export async function endOf(server: TestServer, trigger: Pick<CreatedTrigger, 'id'>): Promise<DeliveryInfo> {
  let newest: DeliveryInfo | undefined;
  await expect
    .poll(
      async () => {
        newest = (await deliveriesOf(server, trigger))[0];
        return newest?.state;
      },
      { timeout: 60_000 },
    )
    .toMatch(/^(?:done|failed|ignored)$/);
  return newest!;
}

/** What the agent was asked, and everything else of the conversation. */
export async function eventsOf(server: TestServer, id: string): Promise<string> {
  return (await server.get(`/api/conversations/${id}/events/search?limit=100`)).text();
}

export async function conversationCount(server: TestServer): Promise<number> {
  const answer = await server.get('/api/conversations?limit=100');
  return ((await answer.json()) as { readonly results: readonly unknown[] }).results.length;
}
