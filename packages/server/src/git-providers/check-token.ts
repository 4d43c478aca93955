import type { Secret } from '@tendon/protocol/masking';
import type { GitProvider } from '@tendon/protocol';
import { isLimited } from './apis/provider-fetch.ts';

export type TokenCheck = { readonly state: 'taken' | 'refused' } | { readonly state: 'unreachable'; readonly reason: string };

const TIMEOUT_MS = 8_000;

/** Where each provider says whose token it is; `host` is one's own installation. */
const WHO_AM_I: Readonly<Record<GitProvider, (host: string | null) => string>> = {
  github: (host) => (host ? `${originOf(host)}/api/v3/user` : 'https://api.github.com/user'),
  gitlab: (host) => `${originOf(host ?? 'gitlab.com')}/api/v4/user`,
  bitbucket: (host) => (host ? `${originOf(host)}/rest/api/1.0/users?limit=1` : 'https://api.bitbucket.org/2.0/user'),
};

/** Asks the provider whose token it is. Redirects are not followed: they would send the token to another server. Never rejects. */
export async function checkToken(provider: GitProvider, token: Secret, host: string | null): Promise<TokenCheck> {
  try {
    const response = await fetch(WHO_AM_I[provider](host), {
      headers: { authorization: authorizationFor(provider, token), accept: 'application/json', 'user-agent': 'tendon' },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return { state: 'taken' };
    if (isLimited(response)) return { state: 'unreachable', reason: 'too many requests' };
    // An address that is no such provider, or redirects, says nothing about the token.
    const isRefused = response.status === 401 || response.status === 403;
    return isRefused ? { state: 'refused' } : { state: 'unreachable', reason: `it answered ${response.status}` };
  } catch (cause) {
    return { state: 'unreachable', reason: reasonOf(cause) };
  }
}

/** A name or address with an optional port; a scheme of `http://` is for installations on this machine or network. */
export function isHostName(host: string): boolean {
  return /^(https?:\/\/)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?\/?$/i.test(host);
}

/** `https` unless it says otherwise. */
export function originOf(host: string): string {
  return /^https?:\/\//i.test(host) ? host.replace(/\/+$/, '') : `https://${host}`;
}

/** Bitbucket's app passwords are `user:password`. */
export function authorizationFor(provider: GitProvider, token: Secret): string {
  const text = token.reveal();
  return provider === 'bitbucket' && text.includes(':') ? `Basic ${Buffer.from(text).toString('base64')}` : `Bearer ${text}`;
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = (inner as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : inner instanceof Error ? inner.name : 'no answer';
}
