import type { IncomingMessage, ServerResponse } from 'node:http';
import { cookiesIn } from '../platform/auth/session-cookie.ts';
import { type PreviewKeys, TOKEN_SECONDS } from './preview-keys.ts';
import { type PreviewPlace, LOOPBACK_SITE, type PreviewSite } from '../platform/preview-site.ts';
import { PAGES, sendPage } from './preview-page.ts';

export type PreviewAccess =
  | { readonly ok: true; readonly conversationId: string; readonly isAging: boolean }
  | { readonly ok: false; readonly why: 'locked' | 'foreign' };

/**
 * Who may use a preview: a browser that followed its link (the token in the cookie), from the preview's own pages. Another page
 * in the same browser can neither read it nor drive it: its requests carry no cookie of the frame's partition, and those that do
 * are recognized by `Sec-Fetch-Site` or `Origin`. Such a page, ours too, may only lead there, in a tab or a frame.
 */
export function authorizePreview(request: IncomingMessage, place: PreviewPlace, keys: PreviewKeys): PreviewAccess {
  if (!isOwn(request)) return { ok: false, why: 'foreign' };
  const tokens = cookiesIn(request.headers.cookie).flatMap(([name, value]) => (name === COOKIE ? [value] : []));
  const opened = tokens.map((token) => keys.read(token, place)).find((found) => found !== undefined);
  return opened ? { ok: true, ...opened } : { ok: false, why: 'locked' };
}

function isOwn({ method, headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isSameOrigin = origin?.replace(/^https?:\/\//, '') === host;
  const isUpgrade = headers.upgrade !== undefined;
  // A page without a referrer policy's leave says `null` of itself; then only the browser's own word counts.
  if (site === undefined || isUpgrade) return origin === undefined || isSameOrigin;
  if (site === 'same-origin' || site === 'none') return true;
  const isVisit = headers['sec-fetch-mode'] === 'navigate' && (method === 'GET' || method === 'HEAD');
  // Another preview may link here, and not lay this one under its own page.
  return isVisit && (site !== 'same-site' || headers['sec-fetch-dest'] === 'document');
}

/** The token travels in it after the first visit. It never reaches the sandbox, and what is in there cannot set it. */
export const COOKIE = 'tendon_preview';

/**
 * `Set-Cookie` lines that keep the token on this one origin. Where browsers take the origin for safe there is one that works in
 * a frame of another site, and only in the frames of that site (`Partitioned`); in other browsers a preview opens in a tab of its own.
 * @internal
 */
export function setCookies(token: string, { scheme, domain }: PreviewSite): readonly string[] {
  const common = `${COOKIE}=${token}; Path=/; Max-Age=${TOKEN_SECONDS}; HttpOnly`;
  const inTab = `${common}; SameSite=Lax`;
  const inFrames = `${common}; Secure; SameSite=None; Partitioned`;
  if (scheme === 'https') return [inFrames];
  const isHere = domain === LOOPBACK_SITE.domain || domain.endsWith(`.${LOOPBACK_SITE.domain}`);
  return isHere ? [inTab, inFrames] : [inTab];
}

/** Part of the origin's own paths, so it is one that no program has. What follows the token is the path to show. */
const ENTRY = /^\/\.tendon\/preview\/([\w.-]+)([^]*)$/;

export function entryPath(token: string): string {
  return `/.tendon/preview/${token}`;
}

/** The token and the path behind it when the request follows a link of ours. */
export function entryIn(url: string): { readonly token: string; readonly rest: string } | undefined {
  const match = ENTRY.exec(url);
  return match ? { token: match[1]!, rest: match[2]! } : undefined;
}

/** Puts the token into a cookie and leads on to the path, out of whose address it disappears. */
export function enterPreview(
  request: IncomingMessage,
  response: ServerResponse,
  { token, rest, place, site, keys }: { token: string; rest: string; place: PreviewPlace; site: PreviewSite; keys: PreviewKeys },
): void {
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  if (!isReading || !keys.read(token, place)) return sendPage(request, response, PAGES.locked);
  response.writeHead(303, {
    // One slash: two would lead to another host.
    location: `/${rest.replace(/^[/\\]+/, '')}`,
    'set-cookie': [...setCookies(token, site)],
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': 0,
  });
  response.end();
}

/** A cookie that ends soon is given anew while it is used. */
export function renewed(
  access: PreviewAccess & { ok: true },
  { port }: PreviewPlace,
  site: PreviewSite,
  keys: PreviewKeys,
): readonly string[] {
  return access.isAging ? setCookies(keys.tokenFor(access.conversationId, port), site) : [];
}
