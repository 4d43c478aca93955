import { Secret } from '@tendon/protocol/masking';
import type { GitProvider } from '@tendon/protocol';
import type { GitAccess } from '@tendon/runtime';
import { originOf } from './check-token.ts';
import type { GitAccounts, ProviderLogin } from './provider-tokens.ts';

const USUAL_HOSTS: Readonly<Record<GitProvider, string>> = { github: 'github.com', gitlab: 'gitlab.com', bitbucket: 'bitbucket.org' };
/** Who a token says it is, where the protocol wants a user's name. */
const USERS: Readonly<Record<GitProvider, string>> = { github: 'x-access-token', gitlab: 'oauth2', bitbucket: 'x-token-auth' };

/** The git hosts of the providers, each with the token that is stored for it, as of each question. */
export function gitAccess(accounts: () => Promise<Pick<GitAccounts, 'logins'>>): GitAccess {
  return {
    hosts: async () => [...new Set([...Object.values(USUAL_HOSTS), ...(await accounts()).logins.map(hostOf)])],
    async login(host) {
      const login = (await accounts()).logins.find((one) => hostOf(one) === host);
      if (login === undefined) return Object.values(USUAL_HOSTS).includes(host) ? { origin: `https://${host}` } : undefined;
      const { provider, token } = login;
      const origin = login.host === null ? `https://${USUAL_HOSTS[provider]}` : originOf(login.host);
      return { origin, authorization: new Secret(`Basic ${Buffer.from(userAndToken(provider, token.reveal())).toString('base64')}`) };
    },
  };
}

/** Where a provider's repositories are; `host` is the user's own installation. */
export function repositoryHost(provider: GitProvider, tokens: Pick<GitAccounts, 'set'>): string {
  const host = tokens.set[provider];
  return host ? originOf(host) : `https://${USUAL_HOSTS[provider]}`;
}

/** The host whose repositories a token is for. */
export function hostOf({ provider, host }: Pick<ProviderLogin, 'provider' | 'host'>): string {
  return host === null ? USUAL_HOSTS[provider] : new URL(originOf(host)).host;
}

/** Bitbucket's app passwords come with their user. */
function userAndToken(provider: GitProvider, token: string): string {
  return provider === 'bitbucket' && token.includes(':') ? token : `${USERS[provider]}:${token}`;
}
