/**
 * The one place that decides whether a request may be served; every route, poll and upgrade asks it.
 *
 * A1  `Host` is a loopback name, the bound address, or configured: a page whose name was rebound to 127.0.0.1 is refused.
 * A2  `Origin` is absent, our own, a loopback name with any port, or permitted: a foreign page is refused, also for upgrades, and
 *     a preview of what agents built always.
 * A3  With a key configured every request needs it, unless its route says that it is public; nothing is public by its path.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { isPreviewName, type PreviewSite } from '../previews/preview-site.ts';
import { hostnameOf, isLoopbackName } from './loopback.ts';

export interface AccessRules {
  /** The address that the server is bound to. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly sessionApiKey: Secret | undefined;
  readonly previews: PreviewSite;
}

export interface AccessRequest {
  /** With query, as in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The address of ours that the client connected to. */
  readonly localAddress: string | undefined;
  /**
   * Said by the route: liveness for whoever watches the process, CORS preflights (they can not carry a key), and the files
   * of the web app (the page must load before it can ask for the key). They are alike for everybody and hold nothing of the user's.
   */
  readonly isPublic: boolean;
}

/** The reason to refuse, or `undefined`. */
export function authorize(request: AccessRequest, rules: AccessRules): CatalogError | undefined {
  const { host, origin } = request.headers;
  if (!isHostAllowed(host, request.localAddress, rules)) return catalogError('HOST_NOT_ALLOWED', clipped(host ?? ''));
  if (origin !== undefined && !isOriginAllowed(origin, host!, rules)) return catalogError('ORIGIN_NOT_ALLOWED', clipped(origin));
  if (rules.sessionApiKey === undefined || request.isPublic) return undefined;
  return equals(keyIn(request), rules.sessionApiKey.reveal()) ? undefined : catalogError('UNAUTHORIZED');
}

/** Header first; the query is for what can set no header: sockets, links, images. */
function keyIn(request: AccessRequest): string {
  const header = request.headers['x-session-api-key'];
  if (typeof header === 'string') return header;
  return new URLSearchParams(request.url.split('?').slice(1).join('?')).get('session_api_key') ?? '';
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
  const match = /^https?:\/\/(.+)$/.exec(origin);
  const name = match && hostnameOf(match[1]!);
  if (name && isPreviewName(name, rules.previews.domain)) return false;
  if (rules.corsOrigins.includes(origin) || rules.corsOrigins.includes('*')) return true;
  return name ? match[1]!.toLowerCase() === host.toLowerCase() || isLoopbackName(name) : false;
}

/** Takes the same time wherever the two differ, and whatever their lengths. */
function equals(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function clipped(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
