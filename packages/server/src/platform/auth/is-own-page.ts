import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request that brings our cookie comes from the app itself: a cookie travels with whatever a browser sends here, also from
 * pages on other ports of this machine, which count as the same site. What changes something has to say where it comes from.
 */
export function isOwnPage(
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
