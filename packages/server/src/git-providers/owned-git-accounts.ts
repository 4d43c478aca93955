/**
 * Owns whose tokens of git providers there are: the server's, each organisation's, and each user's in one organisation. It does not own how
 * one is checked and stored (`ProviderTokens`).
 *
 * OG1  A conversation is given the server's, those of its organisation and of who began it, and no others; of one provider the nearest.
 * OG2  Without users there are the server's alone, and nothing else is read.
 */
import type { Secret } from '@tendon/protocol/masking';
import { ByOwner } from '../platform/auth/by-owner.ts';
import type { OwnedBy, OwnScope } from '../platform/auth/own-scope.ts';
import { ProviderTokens, type GitAccounts, type ProviderLogin, type ProviderTokenOptions } from './provider-tokens.ts';

/** Not where the server's are: a server of an earlier version would give these to everybody. */
const COLLECTION = 'owned_git_accounts';

export class OwnedGitAccounts {
  readonly server: ProviderTokens;
  readonly #options: ProviderTokenOptions;
  readonly #owners: ByOwner<ProviderTokens, GitAccounts>;

  private constructor(server: ProviderTokens, options: ProviderTokenOptions) {
    this.server = server;
    this.#options = options;
    this.#owners = new ByOwner<ProviderTokens, GitAccounts>({
      server,
      make: (scope) => new ProviderTokens(options, { collection: COLLECTION, id: scope }),
      join: (stores) => new JoinedAccounts(stores),
    });
  }

  static async open(
    server: ProviderTokens,
    { hasUsers, ...options }: ProviderTokenOptions & { readonly hasUsers: boolean },
  ): Promise<OwnedGitAccounts> {
    const owned = new OwnedGitAccounts(server, options);
    if (!hasUsers) return owned;
    options.records.watch(COLLECTION, () => owned.#read());
    await owned.#read();
    return owned;
  }

  /** Of one owner. */
  in(scope: OwnScope): ProviderTokens {
    return this.#owners.in(scope);
  }

  /** What such a conversation is given, as of now. */
  of(owner: OwnedBy): GitAccounts {
    return this.#owners.of(owner);
  }

  /** Of everybody: what no text may show. */
  get all(): readonly Secret[] {
    return this.#owners.all.flatMap(({ secrets }) => secrets);
  }

  /** What this user has, in whatever organisation, also what another server stored a moment ago. */
  async removeAllOf(user: string): Promise<void> {
    await this.#read();
    for (const tokens of this.#owners.ofUser(user)) await tokens.remove();
  }

  /** As stored now: other servers change them too. */
  async #read(): Promise<void> {
    for (const { id } of await this.#options.records.list(COLLECTION)) this.in(id as OwnScope);
    await Promise.all([...this.#owners.owned].map(([, tokens]) => tokens.read()));
  }
}

/** Of several owners; of one provider the last one's. */
class JoinedAccounts implements GitAccounts {
  readonly #from: readonly ProviderTokens[];
  #joined: { readonly of: readonly unknown[]; readonly logins: readonly ProviderLogin[] } | undefined;

  constructor(from: readonly ProviderTokens[]) {
    this.#from = from;
  }

  /** The same list until one of them changes. */
  get logins(): readonly ProviderLogin[] {
    const of = this.#from.map(({ logins }) => logins);
    if (!this.#joined?.of.every((logins, at) => logins === of[at]))
      this.#joined = { of, logins: [...new Map(of.flat().map((login) => [login.provider, login])).values()] };
    return this.#joined!.logins;
  }

  get set(): GitAccounts['set'] {
    return Object.assign({}, ...this.#from.map(({ set }) => set)) as GitAccounts['set'];
  }
}
