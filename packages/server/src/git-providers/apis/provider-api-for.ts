import type { GitProvider } from '@tendon/protocol';
import type { ProviderLogin } from '../provider-tokens.ts';
import type { ProviderApi } from './provider-api.ts';
import { PROVIDER_DEADLINE_MS } from './provider-fetch.ts';

/** Clients are loaded when one is needed. */
const APIS: Readonly<Record<GitProvider, () => Promise<(login: ProviderLogin, deadlineMs: number) => ProviderApi>>> = {
  github: async () => (await import('./github-api.ts')).githubApi,
  gitlab: async () => (await import('./gitlab-api.ts')).gitlabApi,
  bitbucket: async () => (await import('./bitbucket-api.ts')).bitbucketApi,
};

export async function providerApiFor(login: ProviderLogin, deadlineMs = PROVIDER_DEADLINE_MS): Promise<ProviderApi> {
  return (await APIS[login.provider]())(login, deadlineMs);
}
