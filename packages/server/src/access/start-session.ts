import type { IncomingHttpHeaders } from 'node:http';
import { fingerprintOf, type Principal } from '../platform/auth/identify.ts';
import { LOGIN_SECONDS, sessionCookie } from '../platform/auth/session-cookie.ts';
import type { ServerContext } from '../app/context.ts';

export const TOO_MANY_BROWSERS = 'Too many browsers are signed in.';

/** Signs a browser in by the key of `holder`. Returns the value of `Set-Cookie`, or `undefined` when too many browsers are signed in. */
export async function startSession(
  { key }: Principal,
  { config, engine }: ServerContext,
  headers: IncomingHttpHeaders,
): Promise<string | undefined> {
  const own = config.sessionApiKey && { fingerprint: fingerprintOf(config.sessionApiKey) };
  const by = key === undefined ? own : { id: key };
  const issued = by && (await engine.access.logins.issue({ key: by }, LOGIN_SECONDS));
  return issued && sessionCookie(issued.token, headers);
}
