import { LOOPBACK_SITE, type PreviewSite } from '../platform/preview-site.ts';
import { TOKEN_SECONDS } from './preview-keys.ts';

/** The token travels in it after the first visit. It never reaches the sandbox, and what is in there cannot set it. */
export const COOKIE = 'tendon_preview';

/**
 * `Set-Cookie` lines that keep the token on this one origin. Where browsers take the origin for safe there is one that works in
 * a frame of another site, and only in the frames of that site (`Partitioned`); elsewhere a preview opens in a tab of its own.
 */
export function setCookies(token: string, { scheme, domain }: PreviewSite): readonly string[] {
  const common = `${COOKIE}=${token}; Path=/; Max-Age=${TOKEN_SECONDS}; HttpOnly`;
  const inTab = `${common}; SameSite=Lax`;
  const inFrames = `${common}; Secure; SameSite=None; Partitioned`;
  if (scheme === 'https') return [inFrames];
  const isHere = domain === LOOPBACK_SITE.domain || domain.endsWith(`.${LOOPBACK_SITE.domain}`);
  return isHere ? [inTab, inFrames] : [inTab];
}
