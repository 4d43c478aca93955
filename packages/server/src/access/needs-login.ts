import type { FastifyRequest } from 'fastify';
import { hostnameOf, isLoopbackBind, isLoopbackName } from '../platform/loopback.ts';
import { sessionCookies } from '../platform/auth/session-cookie.ts';
import { admit, type AdmitContext } from '../platform/http/admit.ts';

/**
 * Whether a page of the web app is for nobody yet: the server is reached from elsewhere, and the browser has not signed in. On
 * loopback the app asks for the key itself. A shared link brings its own key, which is not sent with the page.
 */
export function needsLogin(context: AdmitContext, request: FastifyRequest): 'login' | 'again' | undefined {
  const { config } = context;
  const { headers, raw, url } = request;
  const isHere = isLoopbackBind(config.host) && isLoopbackName(hostnameOf(headers.host ?? '') ?? '');
  if (config.sessionApiKey === undefined || isHere || url.startsWith('/shared/')) return undefined;
  if (admit(context, raw, { need: 'read' }).ok) return undefined;
  return headers['sec-fetch-site'] === 'cross-site' && sessionCookies(headers).length === 0 ? 'again' : 'login';
}
