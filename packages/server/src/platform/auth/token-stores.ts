import type { Clock, RecordStore } from '@tendon/core';
import type { Scope, KeyInfo } from '@tendon/protocol';
import { TokenStore, type IssuedToken } from './token-store.ts';

export interface ApiKey {
  readonly name: string;
  readonly scope: Scope;
}

/** Shows one conversation to everybody who has the link. */
export interface Share {
  readonly conversation: string;
  /** The key that it was made with, if it was one of ours: the link ends with it. */
  readonly key?: string;
}

/** A browser that somebody signed in. */
export interface Login {
  /** The key that was given: one of ours by id, or the server's own by its fingerprint. It is asked for anew each time. */
  readonly key: { readonly id: string } | { readonly fingerprint: string };
}

/** Everything that can be handed out to let somebody in, beside the server's own key. */
export interface TokenStores {
  readonly keys: TokenStore<ApiKey>;
  readonly shares: TokenStore<Share>;
  readonly logins: TokenStore<Login>;
}

export async function openTokenStores(records: RecordStore, clock: Clock): Promise<TokenStores> {
  const [keys, shares, logins] = await Promise.all([
    TokenStore.open<ApiKey>({ records, clock, collection: 'api_keys', prefix: 'tendonkey', max: 1_000 }),
    TokenStore.open<Share>({ records, clock, collection: 'shares', prefix: 'tendonshare', max: 10_000 }),
    TokenStore.open<Login>({ records, clock, collection: 'logins', prefix: 'tendonlogin', max: 10_000 }),
  ]);
  return { keys, shares, logins };
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
export function keyInfo({ id, value, created_at, expires_at, last_used_at }: IssuedToken<ApiKey>): KeyInfo {
  return { id, ...value, created_at, expires_at, last_used_at };
}
