/**
 * Owns the tokens of git providers that one owner has: one record, `settings/git-providers` where it is the server, each token sealed like
 * the model's key. Whose there are beside the server's is in `OwnedGitAccounts`.
 *
 * PT1  A token is stored only after its provider took it; no answer holds one.
 * PT2  Changes come one after the other.
 */
import { type RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';
import { catalogError, isMaskedKey, type CatalogError, type GitProvider, type ProviderToken } from '@tendon/protocol';
import { seal, unseal } from '../platform/auth/stored-secret.ts';
import { checkToken, isHostName } from './check-token.ts';

interface StoredToken {
  readonly sealed: string;
  /** `null`: the provider's usual one. */
  readonly host: string | null;
}

export interface ProviderLogin {
  readonly provider: GitProvider;
  /** `null`: the provider's usual one. */
  readonly host: string | null;
  readonly token: Secret;
}

type Stored = Partial<Record<GitProvider, StoredToken>>;

/** The record of one owner. */
interface TokenPlace {
  readonly collection: string;
  readonly id: string;
}

export interface ProviderTokenOptions {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  readonly check: typeof checkToken;
  /** Called in the tick of each change. */
  readonly onChange: () => void;
}

const SERVERS: TokenPlace = { collection: 'settings', id: 'git-providers' };

/** What a conversation is given. */
export type GitAccounts = Pick<ProviderTokens, 'logins' | 'set'>;

export class ProviderTokens {
  readonly #options: ProviderTokenOptions;
  readonly #place: TokenPlace;
  #stored: Stored = {};
  #logins: readonly ProviderLogin[] | undefined;
  readonly #writing = new Mutex();

  /** Empty, until it is read. */
  constructor(options: ProviderTokenOptions, place: TokenPlace) {
    this.#options = options;
    this.#place = place;
  }

  /** Those of the server. */
  static async open(
    records: RecordStore,
    jwtSecret: Secret,
    { check = checkToken, onChange = (): void => undefined } = {},
  ): Promise<ProviderTokens> {
    const tokens = new ProviderTokens({ records, jwtSecret, check, onChange }, SERVERS);
    records.watch(SERVERS.collection, () => tokens.read());
    await tokens.read();
    return tokens;
  }

  /** As stored now: other servers change them too. */
  async read(): Promise<void> {
    await this.#writing.run(async () => {
      const { collection, id } = this.#place;
      this.#stored = (await this.#options.records.get<Stored>(collection, id)) ?? {};
      this.#logins = undefined;
      this.#options.onChange();
      return undefined;
    });
  }

  /** Provider → host, for those that have a token. */
  get set(): Readonly<Record<string, string | null>> {
    return Object.fromEntries(Object.entries(this.#stored).map(([provider, { host }]) => [provider, host]));
  }

  get secrets(): readonly Secret[] {
    return this.logins.map(({ token }) => token);
  }

  /** Those that can be read: without what was sealed under a JWT secret that is gone. */
  get logins(): readonly ProviderLogin[] {
    this.#logins ??= Object.entries(this.#stored).flatMap(([provider, { sealed, host }]) => {
      const text = unseal(sealed, this.#options.jwtSecret);
      return text ? [{ provider: provider as GitProvider, host, token: new Secret(text) }] : [];
    });
    return this.#logins;
  }

  /** All of them or none. The reason why they were refused, or `undefined` when they are durable. */
  add(given: Partial<Record<GitProvider, ProviderToken>>): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      const added: Stored = {};
      for (const [name, update] of Object.entries(given)) {
        const provider = name as GitProvider;
        const host = update.host?.trim() || null;
        if (host !== null && !isHostName(host)) return { ...catalogError('INVALID_ARGUMENTS'), message: `"${host}" is not a host` };
        const text = update.token?.trim() ?? '';
        const stored = this.#stored[provider];
        if (text === '' || isMaskedKey(text)) {
          // A stored token is not sent to another host: a caller who names one brings a token for it.
          if (stored && host !== null && host !== stored.host) return invalidToken(provider);
          continue;
        }
        if (text.length < MIN_SECRET_LENGTH) return invalidToken(provider);
        const token = new Secret(text);
        const checked = await this.#options.check(provider, token, host);
        if (checked.state === 'refused') return invalidToken(provider);
        if (checked.state === 'unreachable') return unreachable(provider, checked.reason);
        added[provider] = { sealed: seal(text, this.#options.jwtSecret), host };
      }
      await this.#store((now) => ({ ...now, ...added }));
      return undefined;
    });
  }

  async clear(): Promise<void> {
    await this.#writing.run(async () => {
      await this.#store(() => ({}));
      return undefined;
    });
  }

  /** With the record itself. */
  async remove(): Promise<void> {
    await this.clear();
    await this.#options.records.delete(this.#place.collection, this.#place.id);
  }

  /** Of what another server stores meanwhile nothing is lost. */
  async #store(change: (now: Stored) => Stored): Promise<void> {
    const { collection, id } = this.#place;
    const stored = await this.#options.records.update<Stored>(collection, id, (now = {}) => ({ sort: '', value: change(now) }));
    this.#stored = stored ?? {};
    this.#logins = undefined;
    this.#options.onChange();
  }
}

function invalidToken(provider: string): CatalogError {
  return { ...catalogError('INVALID_TOKEN'), message: `Invalid token. Please make sure it is a valid ${provider} token.` };
}

function unreachable(provider: string, reason: string): CatalogError {
  return catalogError('PROVIDER_UNREACHABLE', `${provider} (${reason})`);
}
