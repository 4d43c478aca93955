import type { IncomingHttpHeaders } from 'node:http';

/** A browser takes the second one from a safe origin only, and from nobody below or above it. */
const NAMES = ['tendon_session', '__Host-tendon_session'] as const;
export const LOGIN_SECONDS = 7 * 86_400;

/** All of them: pages of a neighbouring name can add a cookie of this name, but not take ours away. */
export function sessionCookies({ cookie }: IncomingHttpHeaders): readonly string[] {
  return cookie === undefined ? [] : cookiesIn(cookie).flatMap(([name, value]) => (isSessionCookie(name) ? [value] : []));
}

export function isSessionCookie(name: string): boolean {
  return NAMES.some((each) => each === name);
}

/** `Set-Cookie` of a session, or with an empty token of its end. */
export function sessionCookie(token: string, headers: IncomingHttpHeaders, lasts: number = LOGIN_SECONDS): string {
  const isSafe = isFromSafeOrigin(headers);
  const seconds = token === '' ? 0 : lasts;
  const rest = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
  return isSafe ? `${NAMES[1]}=${token}; ${rest}; Secure` : `${NAMES[0]}=${token}; ${rest}`;
}

/** Whether the browser came by HTTPS, as far as it or the proxy before us says. */
export function isFromSafeOrigin(headers: IncomingHttpHeaders): boolean {
  return headers.origin?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https';
}

/** Names and values in the order of the header. */
export function cookiesIn(header: string | undefined): readonly (readonly [string, string])[] {
  return (header ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const];
  });
}
