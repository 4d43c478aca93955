import type { IncomingHttpHeaders } from 'node:http';
import { isOriginAllowed, type AccessRules } from './authorize.ts';

/** What lets a page of an allowed origin read the answer; with `isPreflight` also what it may send. */
export function corsHeaders(headers: IncomingHttpHeaders, rules: AccessRules, isPreflight: boolean): Readonly<Record<string, string>> {
  const { origin, host } = headers;
  if (origin === undefined || host === undefined || !isOriginAllowed(origin, host, rules)) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    ...(!isPreflight && { 'access-control-expose-headers': 'content-disposition, retry-after, x-tendon-truncated' }),
    ...(isPreflight && {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': headers['access-control-request-headers'] ?? 'content-type, x-session-api-key',
      'access-control-max-age': '600',
    }),
  };
}
