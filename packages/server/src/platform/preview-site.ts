import { hostnameOf } from './loopback.ts';

/** Below which name previews live. Each has an origin of its own: `<port>-<label>.<domain>`. */
export interface PreviewSite {
  readonly scheme: 'http' | 'https';
  readonly domain: string;
  /** As browsers see it; unset: the one that the client reached this server at. */
  readonly port?: number;
}

/**
 * Browsers take every name below `localhost` for this machine, for a place as safe as https, and each for a site of its own: right
 * below it no preview can set a cookie for another.
 */
export const LOOPBACK_SITE: PreviewSite = { scheme: 'http', domain: 'localhost' };
const PLACE = /^(\d{1,5}|app|editor)-([0-9a-f]{32})$/;

/** `<name>`, `<name>:<port>`, or either with `http://` or `https://` before it; `undefined` when it is none of these. */
export function parsePreviewSite(text: string): PreviewSite | undefined {
  const match = /^(?:(https?):\/\/)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::(\d{1,5}))?\/?$/i.exec(text.trim());
  if (!match || /^[\d.]+$/.test(match[2]!)) return undefined;
  const scheme = match[1]?.toLowerCase() === 'https' ? 'https' : 'http';
  const port = match[3] ? Number(match[3]) : match[1] && (scheme === 'https' ? 443 : 80);
  return { scheme, domain: match[2]!.toLowerCase(), ...(port && { port }) };
}

/** A port inside, or a place that is resolved at each request: `app` is the program that listened first, `editor` the editor. */
export type PreviewPort = number | 'app' | 'editor';

/** Which preview a `Host` names. `undefined`: it is not of this site; `unknown`: it is, and names none. */
export interface PreviewPlace {
  readonly port: PreviewPort;
  readonly label: string;
}

export function previewPlace(host: string | undefined, { domain }: PreviewSite): PreviewPlace | 'unknown' | undefined {
  const name = host === undefined ? undefined : hostnameOf(host);
  if (name === undefined || !isPreviewName(name, domain)) return undefined;
  const [, what, label = ''] = PLACE.exec(name.slice(0, -domain.length - 1)) ?? [];
  if (what === 'app' || what === 'editor') return { port: what, label };
  const port = Number(what);
  return port > 0 && port < 65_536 ? { port, label } : 'unknown';
}

/** Whether what is served there comes from an agent's program: it never speaks for the user. Below `localhost` other programs have names, too. */
export function isPreviewName(hostname: string, domain: string): boolean {
  const isBelow = hostname.endsWith(`.${domain}`);
  return domain === LOOPBACK_SITE.domain ? isBelow && PLACE.test(hostname.slice(0, -domain.length - 1)) : isBelow || hostname === domain;
}

/** `reachedAt`: the `Host` of the request that asks for the link. */
export function previewOrigin({ port, label }: PreviewPlace, site: PreviewSite, reachedAt: string): string {
  const seen = site.port ?? Number(/:(\d{1,5})$/.exec(reachedAt)?.[1] ?? 80);
  const isDefault = seen === (site.scheme === 'https' ? 443 : 80);
  return `${site.scheme}://${port}-${label}.${site.domain}${isDefault ? '' : `:${seen}`}`;
}
