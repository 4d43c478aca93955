/**
 * Owns the secret stores of all owners: the server, each organisation, and each user in an organisation. Does not own the secrets
 * themselves (`SecretStore`).
 *
 * OS1  A conversation gets the secrets of the server, of its organisation and of the user who began it, and no others. For a name that
 *      several have, the user's comes before the organisation's, and that before the server's.
 * OS2  Without users there are only the server's secrets, and nothing else is read.
 */
import { Mutex } from '@tendon/protocol/async';
import type { Secret } from '@tendon/protocol/masking';
import { ByOwner } from '../platform/auth/by-owner.ts';
import type { OwnedBy, OwnScope } from '../platform/auth/own-scope.ts';
import { SecretStore, type SecretStoreOptions, type SecretView, type StoredSecret } from './secret-store.ts';

/** A separate collection, because a server of an earlier version would give these to everybody. */
const COLLECTION = 'owned_secrets';

export class OwnedSecrets {
  readonly server: SecretStore;
  readonly #options: SecretStoreOptions;
  readonly #owners: ByOwner<SecretStore, SecretView>;
  /** One mutex for all stores, so that a read cannot miss a concurrent change. */
  readonly #writing = new Mutex();

  private constructor(server: SecretStore, options: SecretStoreOptions) {
    this.server = server;
    this.#options = options;
    this.#owners = new ByOwner<SecretStore, SecretView>({
      server,
      make: (scope) => new SecretStore(options, placeOf(scope), this.#writing),
      join: (stores) => new JoinedSecrets(stores),
    });
  }

  static async open(
    server: SecretStore,
    { hasUsers, ...options }: SecretStoreOptions & { readonly hasUsers: boolean },
  ): Promise<OwnedSecrets> {
    const owned = new OwnedSecrets(server, options);
    if (!hasUsers) return owned;
    options.records.watch(COLLECTION, () => owned.#read());
    await owned.#read();
    return owned;
  }

  /** The store of one owner. */
  in(scope: OwnScope): SecretStore {
    return this.#owners.in(scope);
  }

  /** The secrets that a conversation of this owner gets, as of now. */
  of(owner: OwnedBy): SecretView {
    return this.#owners.of(owner);
  }

  /** The values of all owners, which the mask hides. */
  get all(): readonly Secret[] {
    return this.#owners.all.flatMap(({ values }) => [...values.values()]);
  }

  /** Removes the user's secrets in every organisation, including those that another server has just stored. */
  async removeAllOf(user: string): Promise<void> {
    await this.#read();
    for (const store of this.#owners.ofUser(user)) await store.clear();
  }

  /** Reads all stores anew, because other servers change them too. */
  #read(): Promise<void> {
    return this.#writing.run(async () => {
      const stored = await this.#options.records.list<StoredSecret>(COLLECTION);
      const byScope = Map.groupBy(stored, ({ id }) => id.slice(0, id.lastIndexOf('/')));
      for (const scope of byScope.keys()) this.in(scope as OwnScope);
      for (const [scope, store] of this.#owners.owned) store.hold((byScope.get(scope) ?? []).map(({ value }) => value));
    });
  }
}

function placeOf(scope: OwnScope) {
  return { collection: COLLECTION, prefix: `${scope}/` };
}

/** The secrets of several owners; the last owner wins a name that several have. */
class JoinedSecrets implements SecretView {
  readonly #from: readonly SecretStore[];
  #joined: { readonly of: readonly unknown[]; readonly values: ReadonlyMap<string, Secret> } | undefined;

  constructor(from: readonly SecretStore[]) {
    this.#from = from;
  }

  /** The same map until one of them changes. */
  get values(): ReadonlyMap<string, Secret> {
    const of = this.#from.map(({ values }) => values);
    if (!this.#joined?.of.every((values, at) => values === of[at]))
      this.#joined = { of, values: new Map(of.flatMap((values) => [...values])) };
    return this.#joined!.values;
  }

  hostsOf(name: string): readonly string[] {
    return this.#from.findLast(({ values }) => values.has(name))?.hostsOf(name) ?? [];
  }

  get list(): SecretView['list'] {
    const named = new Map(this.#from.flatMap(({ list }) => list.custom_secrets.map((each) => [each.name, each] as const)));
    return { custom_secrets: [...named.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  }
}
