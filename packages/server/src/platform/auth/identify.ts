import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import type { Caller } from './caller.ts';
import type { Scope } from '@tendon/protocol';
import type { TokenStores, ApiKey, Login, TokenOwner } from './token-stores.ts';
import { sessionCookies } from './session-cookie.ts';
import type { IssuedToken } from './token-store.ts';

/** The caller, and what let it in. */
export interface Principal extends Caller {
  readonly conversation?: string;
  /** Resolves when what let it in has ended, or with the signal; unset: it does not end. */
  readonly ended?: (signal: AbortSignal) => Promise<void>;
  /** It may change what every organisation of the server shares. Unset, where it is a user: it may not. */
  readonly administersServer?: boolean;
  /** It came in by a cookie, which browsers send along for any page. */
  readonly login?: IssuedToken<Login>;
}

export interface Keyring {
  /** Unset: everybody who reaches the server is its owner. */
  readonly sessionApiKey: Secret | undefined;
  readonly tokens?: TokenStores | undefined;
}

export interface Asking {
  /** With query, as in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

const RANK = { read: 1, drive: 2, admin: 3 } as const satisfies Record<Scope, number>;
const OWNER: Principal = { keyName: 'owner', scope: 'admin' };

/** `wrong`: something was given that opens nothing. */
export function identify(asking: Asking, ring: Keyring): Principal | 'wrong' | undefined {
  const query = new URLSearchParams(asking.url.split('?').slice(1).join('?'));
  const share = headerOr(asking, 'x-tendon-share', query, 'share');
  if (share !== '' && ring.tokens) return bySharedLink(share, ring.tokens) ?? 'wrong';
  const named = headerOr(asking, 'x-session-api-key', query, 'session_api_key');
  const given = named === '' || named === 'null' ? (bearerKey(asking, ring) ?? named) : named;
  const byKey = given === '' ? undefined : holderOf(given, ring);
  if (byKey || ring.sessionApiKey === undefined) return byKey ?? OWNER;
  const byCookie = ring.tokens && byLogin(asking.headers, ring);
  // Frontends send the text of a key that they do not have.
  return byCookie ?? (given === '' || given === 'null' || given === 'undefined' ? undefined : 'wrong');
}

/** Whose key it is. */
export function holderOf(given: string, { sessionApiKey, tokens }: Keyring): Principal | undefined {
  if (sessionApiKey && equals(given, sessionApiKey.reveal())) return OWNER;
  const held = tokens?.keys.find(given);
  return held && keyHolder(held, tokens!);
}

/** Says which key of the server it is without saying the key. */
export function fingerprintOf(key: Secret): string {
  return digest(`tendon login\0${key.reveal()}`).toString('base64url').slice(0, 22);
}

/** `undefined`: its user is there no more. */
function keyHolder({ id, value }: IssuedToken<ApiKey>, { keys, users }: TokenStores): Principal | undefined {
  const holder = heldBy(value.owner, users, (signal) => keys.ended(id, signal));
  if (!holder) return undefined;
  void keys.use(id).catch(() => undefined); // Only the time of use is lost.
  return { ...holder, scope: lesser(value.scope, holder.scope), keyName: `key ${id}`, key: id };
}

type Held = Pick<Principal, 'userId' | 'userName' | 'organisationId' | 'administersServer' | 'ended'> & { readonly scope: Scope };
type Ended = NonNullable<Principal['ended']>;

/** What a token's owner may do now. A server that has no users any more lets none of theirs in. */
function heldBy(owner: TokenOwner | undefined, users: TokenStores['users'], ended: Ended): Held | undefined {
  if (!owner) return { scope: 'admin', ended };
  const member = users?.member(owner.user, owner.organisation);
  if (!member) return undefined;
  const { userId, userName, organisationId, scope, administersServer } = member;
  const both: Ended = (signal) => firstOf(signal, (each) => [ended(each), users!.ended(member, each)]);
  return { userId, userName, organisationId, administersServer, scope, ended: both };
}

function lesser(one: Scope, other: Scope): Scope {
  return RANK[one] < RANK[other] ? one : other;
}

function bySharedLink(token: string, { shares, keys, users }: TokenStores): Principal | undefined {
  const held = shares.find(token);
  const { key, owner } = held?.value ?? {};
  if (!held || (key !== undefined && !keys.get(key))) return undefined;
  const byKey: Ended = (signal) => firstOf(signal, (each) => [shares.ended(held.id, each), ...(key ? [keys.ended(key, each)] : [])]);
  const holder = heldBy(owner, users, byKey);
  if (!holder) return undefined;
  void shares.use(held.id).catch(() => undefined);
  return { keyName: `share ${held.id}`, scope: undefined, conversation: held.value.conversation, ended: holder.ended! };
}

function byLogin(headers: IncomingHttpHeaders, { sessionApiKey, tokens }: Keyring): Principal | undefined {
  const { logins, keys, users } = tokens!;
  for (const token of sessionCookies(headers)) {
    const login = logins.find(token);
    if (!login) continue;
    const keyName = `login ${login.id}`;
    const { key } = login.value;
    if ('fingerprint' in key) {
      if (!sessionApiKey || key.fingerprint !== fingerprintOf(sessionApiKey)) continue;
      return { keyName, scope: 'admin', login, ended: (signal) => logins.ended(login.id, signal) };
    }
    const isOver: Ended = (signal) => logins.ended(login.id, signal);
    if ('user' in key) {
      const holder = heldBy(key, users, isOver);
      if (holder) return { ...holder, keyName, login };
      continue;
    }
    const held = keys.get(key.id);
    const both: Ended = (signal) => firstOf(signal, (each) => [isOver(each), keys.ended(key.id, each)]);
    const holder = held && heldBy(held.value.owner, users, both);
    if (holder) return { ...holder, scope: lesser(held.value.scope, holder.scope), keyName, login, key: key.id };
  }
  return undefined;
}

/** The others stop waiting. */
async function firstOf(signal: AbortSignal, wait: (signal: AbortSignal) => readonly Promise<void>[]): Promise<void> {
  const over = new AbortController();
  await Promise.race(wait(AbortSignal.any([signal, over.signal])));
  over.abort();
}

/** Header first; the query is for what can set no header: sockets, links, images. */
function headerOr({ headers }: Asking, header: string, query: URLSearchParams, name: string): string {
  const value = headers[header];
  return typeof value === 'string' ? value : (query.get(name) ?? '');
}

/** Scripts for the cloud send a key so. What is none of ours says nothing: clients of 2024 send their session's token there. */
function bearerKey({ headers }: Asking, ring: Keyring): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return token !== undefined && holderOf(token, ring) ? token : undefined;
}

/** Takes the same time wherever the two differ, and whatever their lengths. */
function equals(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
