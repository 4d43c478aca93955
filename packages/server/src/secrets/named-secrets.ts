import type { Secret } from '@tendon/core';
import type { GitProvider } from '@tendon/protocol';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';
import type { SecretStore } from './secret-store.ts';

const TOKEN_NAMES: Readonly<Record<GitProvider, string>> = { github: 'GITHUB_TOKEN', gitlab: 'GITLAB_TOKEN', bitbucket: 'BITBUCKET_TOKEN' };

/** What commands can ask for by name: the user's secrets, and the git providers' tokens under the names that their tools read. */
export function namedSecrets(store: Pick<SecretStore, 'values'>, tokens: Pick<ProviderTokens, 'logins'>): ReadonlyMap<string, Secret> {
  if (tokens.logins.length === 0) return store.values;
  return new Map([...tokens.logins.map(({ provider, token }) => [TOKEN_NAMES[provider], token] as const), ...store.values]);
}
