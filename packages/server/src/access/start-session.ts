import type { IncomingHttpHeaders } from 'node:http';
import { fingerprintOf, type Principal } from '../platform/auth/identify.ts';
import { LOGIN_SECONDS, sessionCookie } from '../platform/auth/session-cookie.ts';
import type { AccessBooks } from '../platform/auth/access-books.ts';
import type { Config } from '../platform/config/config.ts';

export const TOO_MANY_BROWSERS = 'Too many browsers are signed in.';

export interface SessionContext {
  readonly config: Config;
  readonly access: AccessBooks;
}

/** Signs a browser in by the key of `holder`. Returns the value of `Set-Cookie`, or `undefined` when too many browsers are signed in. */
export async function startSession(
  { key }: Principal,
  { config, access }: SessionContext,
  headers: IncomingHttpHeaders,
): Promise<string | undefined> {
  const own = config.sessionApiKey && { fingerprint: fingerprintOf(config.sessionApiKey) };
  const by = key === undefined ? own : { id: key };
  const issued = by && (await access.logins.issue({ key: by }, LOGIN_SECONDS));
  return issued && sessionCookie(issued.token, headers);
}
