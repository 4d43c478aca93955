import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { HOP_HEADERS } from '@tendon/runtime';
import { isSessionCookie } from '../platform/auth/session-cookie.ts';
import { cookiesIn } from '../platform/auth/cookies-in.ts';
import { COOKIE } from './preview-cookie.ts';

/** Said by whoever stands before us, if anybody: programs inside take them for the truth. And what we have answered ourselves. */
const UNTOLD = /^(?:x-forwarded-|forwarded$|x-real-ip$|expect$|x-session-api-key$)/;
/** Would reach beyond the preview's own origin. */
const OVERREACHING = new Set(['clear-site-data', 'alt-svc', 'strict-transport-security', 'public-key-pins']);

/** What the program inside is told. Nothing that lets anybody in here: neither our cookie nor a header that holds `key`. */
export function inwardHeaders({ headers }: IncomingMessage, key: string | undefined): OutgoingHttpHeaders {
  const named = namedIn(headers);
  const kept = Object.entries(headers).filter(([name, value]) => {
    // Said again, so that a body of unknown length goes in as it came.
    const isHop = HOP_HEADERS.has(name) && name !== 'transfer-encoding';
    if (isHop || named.has(name) || UNTOLD.test(name) || name === 'cookie') return false;
    return key === undefined || !String(value).includes(key);
  });
  const cookies = cookiesIn(headers.cookie).filter(
    ([name, value]) => name !== COOKIE && !isSessionCookie(name) && (key === undefined || !value.includes(key)),
  );
  const cookie = cookies.map((pair) => pair.join('=')).join('; ');
  return { ...Object.fromEntries(kept), ...(cookie && { cookie }) };
}

/** What the browser is told. Cookies stay on the preview's own origin, and ours is not theirs to set. */
export function outwardHeaders(answer: IncomingMessage): OutgoingHttpHeaders {
  const named = namedIn(answer.headers);
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const name = answer.rawHeaders[at]!.toLowerCase();
    if (HOP_HEADERS.has(name) || named.has(name) || OVERREACHING.has(name)) continue;
    const value = name === 'set-cookie' ? hostOnly(answer.rawHeaders[at + 1]!) : answer.rawHeaders[at + 1]!;
    if (value !== undefined) (headers[name] ??= []).push(value);
  }
  return headers;
}

function hostOnly(cookie: string): string | undefined {
  const [pair = '', ...attributes] = cookie.split(';');
  if (pair.split('=', 1)[0]!.trim() === COOKIE) return undefined;
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))].join(';');
}

/** `Connection` can name more headers that are of one connection only. */
function namedIn({ connection }: IncomingHttpHeaders): ReadonlySet<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
}
