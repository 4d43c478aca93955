import type { Clock, RecordStore } from '@tendon/core';
import type { Scope, KeyInfo } from '@tendon/protocol';
import type { UserRules } from '../config/users-config.ts';
import { TokenStore, type IssuedToken } from './token-store.ts';
import type { UserDirectory } from './user-directory.ts';

/** A user, in the organisation that they act in. */
export interface TokenOwner {
  readonly user: string;
  readonly organisation: string;
}

export interface ApiKey {
  readonly name: string;
  /** At most so much, and no more than its owner may. */
  readonly scope: Scope;
  /** Unset: the server's own. */
  readonly owner?: TokenOwner;
}

/** Shows one conversation to everybody who has the link. */
export interface Share {
  readonly conversation: string;
  /** The key that it was made with, if it was one of ours: the link ends with it. */
  readonly key?: string;
  /** Who made it, if it was a user: the link ends with them. */
  readonly owner?: TokenOwner;
}

/** A browser that somebody signed in: with a key of ours by its id, with the server's own by its fingerprint, or at the identity provider. It is asked for anew each time. */
export interface Login {
  readonly key: { readonly id: string } | { readonly fingerprint: string } | TokenOwner;
}

/** Everything that can be handed out to let somebody in, beside the server's own key. */
export interface TokenStores {
  readonly keys: TokenStore<ApiKey>;
  readonly shares: TokenStore<Share>;
  readonly logins: TokenStore<Login>;
  /** Whose they are; unset: the server has no users. */
  readonly users?: UserDirectory | undefined;
}

export async function openTokenStores(records: RecordStore, clock: Clock, rules?: UserRules): Promise<TokenStores> {
  const shared = { records, clock };
  const ownerOf = ({ owner }: { readonly owner?: TokenOwner }): string | undefined => owner?.user;
  const sessionsOfEach = { max: 100, userOf: ({ key }: Login) => ('user' in key ? key.user : undefined), replacesOldest: true };
  const [keys, shares, logins] = await Promise.all([
    TokenStore.open<ApiKey>({ ...shared, collection: 'api_keys', prefix: 'tendonkey', max: 1_000, each: { max: 100, userOf: ownerOf } }),
    TokenStore.open<Share>({ ...shared, collection: 'shares', prefix: 'tendonshare', max: 10_000, each: { max: 1_000, userOf: ownerOf } }),
    TokenStore.open<Login>({ ...shared, collection: 'logins', prefix: 'tendonlogin', max: 10_000, each: sessionsOfEach }),
  ]);
  // Not loaded where there are none.
  const users = rules && (await (await import('./user-directory.ts')).UserDirectory.open({ records, clock, rules }));
  return { keys, shares, logins, users };
}

/** With the user end their sessions and keys, and with those what was opened by them. */
export async function revokeAllOf({ keys, shares, logins }: TokenStores, userId: string): Promise<void> {
  const isTheirs = ({ owner }: { readonly owner?: TokenOwner }): boolean => owner?.user === userId;
  await Promise.all([
    keys.revokeThose(isTheirs),
    shares.revokeThose(isTheirs),
    logins.revokeThose(({ key }) => 'user' in key && key.user === userId),
  ]);
}

/** With the key ends what was opened with it. False: there is no such key. */
export async function revokeKey({ keys, shares, logins }: TokenStores, id: string): Promise<boolean> {
  const [wasThere] = await Promise.all([
    keys.revoke(id),
    shares.revokeThose(({ key }) => key === id),
    logins.revokeThose(({ key }) => 'id' in key && key.id === id),
  ]);
  return wasThere;
}

/** A key as it is listed, without what it opens with. */
export function keyInfo(
  { id, value: { name, scope, owner }, created_at, expires_at, last_used_at }: IssuedToken<ApiKey>,
  users?: UserDirectory,
): KeyInfo {
  const user = owner && { id: owner.user, name: users?.member(owner.user, owner.organisation)?.userName ?? owner.user };
  return { id, name, scope, created_at, expires_at, last_used_at, ...(user && { user }) };
}
