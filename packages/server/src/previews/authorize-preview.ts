import type { IncomingMessage } from 'node:http';
import { cookiesIn } from '../platform/auth/cookies-in.ts';
import { COOKIE } from './preview-cookie.ts';
import type { PreviewKeys } from './preview-keys.ts';
import type { PreviewPlace } from '../platform/preview-site.ts';

export type PreviewAccess =
  | { readonly ok: true; readonly conversationId: string; readonly isAging: boolean }
  | { readonly ok: false; readonly why: 'locked' | 'foreign' };

/**
 * Who may use a preview: a browser that followed its link (the token in the cookie), from the preview's own pages. Another page
 * in the same browser can neither read it nor drive it: its requests carry no cookie of the frame's partition, and those that do
 * are told by `Sec-Fetch-Site` or `Origin`. Such a page, ours too, may only lead there, in a tab or a frame.
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
