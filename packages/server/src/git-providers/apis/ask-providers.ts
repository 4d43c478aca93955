import type { GitProvider } from '@tendon/protocol';
import type { ProviderLogin } from '../provider-tokens.ts';
import type { ProviderApi, ProviderBranch } from './provider-api.ts';
import { providerFailureOf, type ProviderError, PROVIDER_DEADLINE_MS } from './provider-fetch.ts';

export type ProviderResult<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ProviderError);
export type Question<T> = (api: ProviderApi, provider: GitProvider) => Promise<T>;

/** The first answer; the failure of the last when none has one. `logins` is not empty. */
export async function firstAnswer<T>(logins: readonly ProviderLogin[], question: Question<T>): Promise<ProviderResult<T>> {
  let failed: ProviderResult<T> | undefined;
  for (const login of logins) {
    const asked = await askOne(login, question);
    if (asked.ok) return asked;
    // That one provider does not know it says less than that another one could not say.
    if (!failed || failed.ok || failed.error.code === 'PROVIDER_NOT_FOUND') failed = asked;
  }
  return failed!;
}

/** All answers one after the other; what one could not say is left out while another one could. */
export async function allAnswers<T>(
  logins: readonly ProviderLogin[],
  question: Question<readonly T[]>,
): Promise<ProviderResult<readonly T[]>> {
  const asked = await Promise.all(logins.map((login) => askOne(login, question)));
  const good = asked.flatMap((each) => (each.ok ? [each.value] : []));
  return good.length > 0 ? { ok: true, value: good.flat() } : asked[0]!;
}

async function askOne<T>(login: ProviderLogin, question: Question<T>): Promise<ProviderResult<T>> {
  try {
    return { ok: true, value: await question(await providerApiFor(login), login.provider) };
  } catch (thrown) {
    return { ok: false, ...providerFailureOf(login.provider, thrown) };
  }
}

/** Clients are loaded when one is needed. */
const APIS: Readonly<Record<GitProvider, () => Promise<(login: ProviderLogin, deadlineMs: number) => ProviderApi>>> = {
  github: async () => (await import('./github-api.ts')).githubApi,
  gitlab: async () => (await import('./gitlab-api.ts')).gitlabApi,
  bitbucket: async () => (await import('./bitbucket-api.ts')).bitbucketApi,
};

export async function providerApiFor(login: ProviderLogin, deadlineMs = PROVIDER_DEADLINE_MS): Promise<ProviderApi> {
  return (await APIS[login.provider]())(login, deadlineMs);
}

/** More than anybody looks through. */
const MAX_PAGES = 10;
const PER_PAGE = 100;

export async function allBranches(api: ProviderApi, repository: string): Promise<readonly ProviderBranch[]> {
  const found: ProviderBranch[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { branches, has_next_page } = await api.branches(repository, { page, perPage: PER_PAGE });
    found.push(...branches);
    if (!has_next_page) break;
  }
  return found;
}
