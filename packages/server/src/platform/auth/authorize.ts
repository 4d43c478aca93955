/**
 * The one place that decides whether a request may be served; every route, poll and upgrade asks it.
 *
 * AUT1  `Host` is a loopback name, the bound address, or configured: a page whose name was rebound to 127.0.0.1 is refused.
 * AUT2  `Origin` is absent, our own, a loopback name with any port that is not published for sandboxes, or permitted: a foreign page
 *       is refused, also for upgrades, and a preview of what agents built always.
 * AUT3  With a key configured every request identifies its caller, unless its route is public by `access-table.ts`; nothing is public by its path.
 * AUT4  The caller has the scope that the route needs; a shared link has its conversation, and only where the route can be shared.
 * AUT5  A cookie counts only from the app's own pages.
 * AUT6  A user without a right to the whole server is refused what concerns every organisation, whatever their scope; of what is theirs alone
 *       they may everything in a browser; a key of theirs needs the scope. Which conversations are theirs is decided where the record is read (`sees`).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { isPreviewName, type PreviewSite } from '../preview-site.ts';
import type { Need, Reach } from './access-table.ts';
import { identify, type Asking, type Keyring, type Principal } from './identify.ts';
import { hostnameOf, isLoopbackName } from '../loopback.ts';

export interface AccessRules extends Keyring {
  /** The address that the server is bound to. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly sessionApiKey: Secret | undefined;
  readonly previews: PreviewSite;
  /** At the ports of `SANDBOX_PORTS` a loopback name is a page of an agent's. */
  readonly container: { readonly ports: readonly { readonly host: number }[] };
}

export interface AccessRequest extends Asking {
  readonly method: string;
  /** The address of ours that the client connected to. */
  readonly localAddress: string | undefined;
  readonly need: Need;
  /** Default: what the caller's organisation has. */
  readonly reach?: Reach;
  /** The one conversation that is asked for. */
  readonly conversation?: string | undefined;
  readonly isSocket?: boolean;
  /** Another server of ours, which the client reached, has checked Host and Origin. */
  readonly isPassedOn?: boolean;
}

export type Access =
  | { readonly ok: true; readonly principal: Principal }
  /** `isWrong`: a key was given, and it opens nothing. */
  | { readonly ok: false; readonly error: CatalogError; readonly isWrong?: boolean };

const NOBODY: Principal = { keyName: 'nobody', scope: undefined };
const RANK = { read: 1, drive: 2, admin: 3 } as const;

export function authorize(request: AccessRequest, rules: AccessRules): Access {
  const { host, origin } = request.headers;
  const { isPassedOn = false } = request;
  if (!isPassedOn && !isHostAllowed(host, request.localAddress, rules)) return refused('HOST_NOT_ALLOWED', clipped(host ?? ''));
  if (!isPassedOn && origin !== undefined && !isOriginAllowed(origin, host!, rules)) return refused('ORIGIN_NOT_ALLOWED', clipped(origin));
  if (request.need === 'public') return { ok: true, principal: NOBODY };
  const principal = identify(request, rules);
  if (principal === undefined || principal === 'wrong') return { ...refused('UNAUTHORIZED'), isWrong: principal === 'wrong' };
  if (principal.login && !isFromOwnPage(request)) return refused('CROSS_SITE');
  return allows(principal, request);
}

function allows(principal: Principal, { need, reach, conversation }: AccessRequest): Access {
  if (principal.scope === undefined) {
    return need === 'shared' && conversation === principal.conversation ? { ok: true, principal } : refused('NOT_SHARED');
  }
  const isUser = principal.userId !== undefined;
  if (isUser && reach === 'server' && !principal.administersServer) return refused('SERVER_ADMINS_ONLY');
  const least = need === 'shared' || need === 'public' || (isUser && reach === 'own' && principal.key === undefined) ? 'read' : need;
  return RANK[principal.scope] >= RANK[least] ? { ok: true, principal } : refused('SCOPE_TOO_NARROW', least);
}

function isFromOwnPage({ headers, method, isSocket = false }: AccessRequest): boolean {
  const isChange = !/^(?:GET|HEAD|OPTIONS)$/.test(method) || headers.upgrade !== undefined;
  return isOwnPage(headers, { isChange, isSocket });
}

function refused(code: CatalogError['code'], detail?: string): { readonly ok: false; readonly error: CatalogError } {
  return { ok: false, error: catalogError(code, detail) };
}

function isHostAllowed(host: string | undefined, localAddress: string | undefined, rules: AccessRules): boolean {
  const name = host === undefined ? undefined : hostnameOf(host);
  if (name === undefined) return false;
  if (isLoopbackName(name) || rules.allowedHosts.includes('*') || rules.allowedHosts.includes(name)) return true;
  // An address is no name that can be rebound; the one the client really reached is ours.
  return name === rules.host.toLowerCase() || name === localAddress?.replace(/^::ffff:/, '');
}

/** Also decides the CORS headers. `host` is the request's own, already allowed. */
export function isOriginAllowed(origin: string, host: string, rules: AccessRules): boolean {
  const [, scheme, place = ''] = /^(https?):\/\/(.+)$/.exec(origin) ?? [];
  const name = hostnameOf(place);
  if (name && isPreviewName(name, rules.previews.domain)) return false;
  if (rules.corsOrigins.includes(origin) || rules.corsOrigins.includes('*')) return true;
  if (name === undefined) return false;
  if (place.toLowerCase() === host.toLowerCase()) return true;
  const port = Number(/:(\d+)$/.exec(place)?.[1] ?? (scheme === 'https' ? 443 : 80));
  return isLoopbackName(name) && !rules.container.ports.some(({ host: published }) => published === port);
}

function clipped(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/**
 * Whether a request that brings our cookie comes from the app itself: a cookie travels with whatever a browser sends here, also from
 * pages on other ports of this machine, which count as the same site. What changes something has to say where it comes from.
 */
function isOwnPage(
  headers: IncomingHttpHeaders,
  { isChange, isSocket }: { readonly isChange: boolean; readonly isSocket: boolean },
): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, '') !== host?.toLowerCase()) return false;
  if (site !== undefined && site !== 'same-origin' && (isChange || site !== 'none')) return false;
  if (!isChange) return true;
  if (origin === undefined && site === undefined) return false;
  // A form cannot set a header; what opens a socket cannot either, and its origin has been looked at.
  return isSocket || headers['x-tendon-request'] !== undefined;
}

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
