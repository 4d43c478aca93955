import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import type { Caller } from './caller.ts';
import type { TokenStores, ApiKey, Login } from './token-stores.ts';
import { sessionCookies } from './session-cookie.ts';
import type { IssuedToken } from './token-store.ts';

/** The caller, and what let it in. */
export interface Principal extends Caller {
  readonly conversation?: string;
  /** Resolves when what let it in has ended, or with the signal; unset: it does not end. */
  readonly ended?: (signal: AbortSignal) => Promise<void>;
  /** The key of ours that it came in by. */
  readonly key?: string;
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

function keyHolder({ id, value }: IssuedToken<ApiKey>, { keys }: TokenStores): Principal {
  void keys.use(id).catch(() => undefined); // Only the time of use is lost.
  return { keyName: `key ${id}`, scope: value.scope, key: id, ended: (signal) => keys.ended(id, signal) };
}

function bySharedLink(token: string, { shares, keys }: TokenStores): Principal | undefined {
  const held = shares.find(token);
  const { key } = held?.value ?? {};
  if (!held || (key !== undefined && !keys.get(key))) return undefined;
  void shares.use(held.id).catch(() => undefined);
  const ended = (signal: AbortSignal) => firstOf(signal, (each) => [shares.ended(held.id, each), ...(key ? [keys.ended(key, each)] : [])]);
  return { keyName: `share ${held.id}`, scope: undefined, conversation: held.value.conversation, ended };
}

function byLogin(headers: IncomingHttpHeaders, { sessionApiKey, tokens }: Keyring): Principal | undefined {
  const { logins, keys } = tokens!;
  for (const token of sessionCookies(headers)) {
    const login = logins.find(token);
    if (!login) continue;
    const keyName = `login ${login.id}`;
    const { key } = login.value;
    if ('fingerprint' in key) {
      if (!sessionApiKey || key.fingerprint !== fingerprintOf(sessionApiKey)) continue;
      return { keyName, scope: 'admin', login, ended: (signal) => logins.ended(login.id, signal) };
    }
    const held = keys.get(key.id);
    if (!held) continue;
    const ended = (signal: AbortSignal) => firstOf(signal, (each) => [logins.ended(login.id, each), keys.ended(key.id, each)]);
    return { keyName, scope: held.value.scope, login, key: key.id, ended };
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
