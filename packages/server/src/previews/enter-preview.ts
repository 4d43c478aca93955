import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PreviewAccess } from './authorize-preview.ts';
import { setCookies } from './preview-cookie.ts';
import type { PreviewKeys } from './preview-keys.ts';
import { PAGES, sendPage } from './preview-page.ts';
import type { PreviewPlace, PreviewSite } from '../platform/preview-site.ts';

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
