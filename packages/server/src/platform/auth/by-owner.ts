import { isOfUser, ownScopesOf, type OwnedBy, type OwnScope } from './own-scope.ts';

interface ByOwnerParts<Store, View> {
  readonly server: Store;
  /** Of one owner; called once for each. */
  readonly make: (scope: OwnScope) => Store;
  /** Of several, from the more general to the nearer. */
  readonly join: (stores: readonly Store[]) => View;
}

/** A store for the server, and one for each organisation and each user in one; and what somebody is given of them together. */
export class ByOwner<Store extends View, View> {
  readonly #parts: ByOwnerParts<Store, View>;
  readonly #stores = new Map<OwnScope, Store>();
  readonly #views = new Map<string, View>();

  constructor(parts: ByOwnerParts<Store, View>) {
    this.#parts = parts;
  }

  in(scope: OwnScope): Store {
    const store = this.#stores.get(scope) ?? this.#parts.make(scope);
    this.#stores.set(scope, store);
    return store;
  }

  /** The server's alone, where nobody else has a part. */
  of(owner: OwnedBy): View {
    const { server, join } = this.#parts;
    const scopes = ownScopesOf(owner);
    if (scopes.length === 0) return server;
    const key = scopes.join(' ');
    const view = this.#views.get(key) ?? join([server, ...scopes.map((scope) => this.in(scope))]);
    this.#views.set(key, view);
    return view;
  }

  /** Without the server's. */
  get owned(): Iterable<readonly [OwnScope, Store]> {
    return this.#stores;
  }

  get all(): readonly Store[] {
    return [this.#parts.server, ...this.#stores.values()];
  }

  /** Of this user, in whatever organisation. */
  ofUser(user: string): readonly Store[] {
    return [...this.#stores].flatMap(([scope, store]) => (isOfUser(scope, user) ? [store] : []));
  }
}
