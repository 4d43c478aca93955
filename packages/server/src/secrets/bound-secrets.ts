import type { GitProvider } from '@tendon/protocol';
import { bindSecret, type BoundSecret } from '@tendon/protocol/masking';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { originOf } from '../git-providers/check-token.ts';
import type { SecretStore } from './secret-store.ts';
import { TOKEN_NAMES } from './secrets-for-action.ts';

/** Where a provider takes its tokens. */
const TOKEN_HOSTS: Readonly<Record<GitProvider, readonly string[]>> = {
  github: ['github.com', 'githubusercontent.com', 'ghcr.io'],
  gitlab: ['gitlab.com'],
  bitbucket: ['bitbucket.org'],
};

/**
 * The secrets that may go to some hosts alone: the user's that name them, and the tokens of git providers. Made anew only when one of the
 * stores has changed.
 */
export function boundSecrets(
  store: Pick<SecretStore, 'values' | 'hostsOf'>,
  tokens: Pick<ProviderTokens, 'logins'>,
): () => readonly BoundSecret[] {
  let made: { readonly values: unknown; readonly logins: unknown; readonly bound: readonly BoundSecret[] } | undefined;
  return () => {
    const { values } = store;
    const { logins } = tokens;
    if (made?.values === values && made.logins === logins) return made.bound;
    const named = [...values].flatMap(([name, value]) => {
      const hosts = store.hostsOf(name);
      return hosts.length > 0 ? [bindSecret(name, hosts, value)] : [];
    });
    const ofProviders = logins.map(({ provider, host, token }) =>
      // A secret of the user with that name is what commands are given by it.
      bindSecret(
        values.has(TOKEN_NAMES[provider]) ? `token of ${provider}` : TOKEN_NAMES[provider],
        host === null ? TOKEN_HOSTS[provider] : [new URL(originOf(host)).hostname],
        token,
      ),
    );
    made = { values, logins, bound: [...named, ...ofProviders] };
    return made.bound;
  };
}
