import type { GitProvider } from '@tendon/protocol';
import { bindSecret, type BoundSecret } from '@tendon/protocol/masking';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import type { OwnedBy } from '../platform/auth/own-scope.ts';
import { originOf } from '../git-providers/check-token.ts';
import type { OwnedSecrets } from './owned-secrets.ts';
import type { SecretView } from './secret-store.ts';
import { TOKEN_NAMES } from './secrets-for-action.ts';

/** The hosts that accept a provider's tokens. */
const TOKEN_HOSTS: Readonly<Record<GitProvider, readonly string[]>> = {
  github: ['github.com', 'githubusercontent.com', 'ghcr.io'],
  gitlab: ['gitlab.com'],
  bitbucket: ['bitbucket.org'],
};

/** Returns the bound secrets of an owner's conversations. */
export function boundSecretsOf(
  secrets: Pick<OwnedSecrets, 'of'>,
  accounts: Pick<OwnedGitAccounts, 'of'>,
): (owner: OwnedBy) => readonly BoundSecret[] {
  const made = new Map<SecretView, () => readonly BoundSecret[]>();
  return (owner) => {
    const view = secrets.of(owner);
    const bound = made.get(view) ?? boundSecrets(view, accounts.of(owner));
    made.set(view, bound);
    return bound();
  };
}

/**
 * The secrets that may only go to certain hosts: those with hosts of their own, and the tokens of git providers. Computed again only when
 * one of the stores has changed.
 * @internal
 */
export function boundSecrets(
  store: Pick<SecretView, 'values' | 'hostsOf'>,
  tokens: Pick<GitAccounts, 'logins'>,
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
      // A named secret takes precedence: commands get that one under this name.
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
