import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import { pipeline, type Duplex } from 'node:stream';
import { exchange, joinStreams, HOP_HEADERS } from '@tendon/runtime';
import { PAGES, sendPage } from './preview-page.ts';
import { isSessionCookie, cookiesIn } from '../platform/auth/session-cookie.ts';
import { COOKIE } from './authorize-preview.ts';

/** A development server may compile for minutes before its first word. */
const FIRST_WORD_MS = 5 * 60_000;

export interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Connected to the program inside. */
  readonly target: Duplex;
  /** Our own key: it does not go inside. */
  readonly key: string | undefined;
  /** Further `Set-Cookie` lines of ours. */
  readonly cookies: readonly string[];
  /** A `Content-Security-Policy` of ours, beside those of the program. */
  readonly policy: string | undefined;
}

/** Passes one request on and its answer back, as they come; neither is stored. When either side goes the other is let go. */
export function forwardRequest(forwarding: Forwarding): void {
  const { request, response } = forwarding;
  const outgoing = begin(forwarding, false);
  outgoing.on('upgrade', (_answer, socket) => {
    socket.destroy(); // nobody asked for that
    sendPage(request, response, PAGES.broken);
  });
  // Without an answer the page that says so is sent by `begin`.
  exchange(request, response, outgoing, (answer) => beginAnswer(answer, forwarding)).catch(() => undefined);
}

/** The same for a connection that is to become something else, a WebSocket. `client` is the browser's, `head` what it sent already. */
export function forwardUpgrade(forwarding: Forwarding & { readonly client: Duplex; readonly head: Buffer }): void {
  const { client, head } = forwarding;
  const outgoing = begin(forwarding, true);
  client.once('close', () => outgoing.destroy());
  outgoing.on('response', (answer) => {
    if (beginAnswer(answer, forwarding)) pipeline(answer, forwarding.response, () => {});
  });
  outgoing.on('upgrade', (answer, target, first) => {
    client.write(switchingProtocols(answer), 'latin1');
    if (first.length > 0) target.unshift(first);
    if (head.length > 0) target.write(head);
    joinStreams(client, target);
  });
  outgoing.end();
}

function begin({ request, response, target, key }: Forwarding, isUpgrade: boolean): ClientRequest {
  const { upgrade, 'transfer-encoding': coding } = request.headers;
  const headers = {
    ...inwardHeaders(request, key),
    ...(coding !== undefined && { 'transfer-encoding': 'chunked' }),
    ...(isUpgrade && { connection: 'Upgrade', upgrade }),
  };
  const path = key === undefined ? request.url! : request.url!.replaceAll(key, '');
  const outgoing = httpRequest({ createConnection: () => target, method: request.method ?? 'GET', path, headers, setHost: false });
  let isAnswered = false;
  const timer = setTimeout(() => fail(PAGES.slow), FIRST_WORD_MS);
  const settle = (): void => {
    isAnswered = true;
    clearTimeout(timer);
  };
  const fail = (page: (typeof PAGES)['slow' | 'broken']): void => {
    if (!isAnswered) sendPage(request, response, page);
    settle();
    outgoing.destroy();
  };
  outgoing.once('response', settle).once('upgrade', settle);
  outgoing.on('error', () => fail(PAGES.broken)).once('close', () => fail(PAGES.broken));
  return outgoing;
}

/** False: it could not be written as it came, and a page says so. */
function beginAnswer(answer: IncomingMessage, { request, response, cookies, policy }: Forwarding): boolean {
  try {
    const headers = outwardHeaders(answer);
    const withOurs = (name: string, ours: readonly string[]) => {
      const all = [...((headers[name] as string[] | undefined) ?? []), ...ours];
      return all.length > 0 && { [name]: all };
    };
    const policies = withOurs('content-security-policy', policy === undefined ? [] : [policy]);
    response.writeHead(answer.statusCode ?? 502, { ...headers, ...withOurs('set-cookie', cookies), ...policies });
    response.flushHeaders();
    return true;
  } catch {
    answer.destroy();
    sendPage(request, response, PAGES.broken); // a status or a header that is none
    return false;
  }
}

/** Its headers were parsed, so that no line break is in them. */
function switchingProtocols(answer: IncomingMessage): string {
  const lines = Object.entries(outwardHeaders(answer)).flatMap(([name, values]) =>
    (values as string[]).map((value) => `${name}: ${value}`),
  );
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${answer.headers.upgrade ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Set by a proxy before this server, if any: programs inside would trust them. And what this server answers itself. */
const NOT_PASSED_ON = /^(?:x-forwarded-|forwarded$|x-real-ip$|expect$|x-session-api-key$)/;
/** Would reach beyond the preview's own origin. */
const OVERREACHING = new Set(['clear-site-data', 'alt-svc', 'strict-transport-security', 'public-key-pins']);

/** The headers for the program inside. Nothing that lets anybody in here: neither our cookie nor a header that holds `key`. */
function inwardHeaders({ headers }: IncomingMessage, key: string | undefined): OutgoingHttpHeaders {
  const named = namedIn(headers);
  const passedOn = Object.entries(headers).filter(([name, value]) => {
    // Passed on, so that a body of unknown length goes in as it came.
    const isHop = HOP_HEADERS.has(name) && name !== 'transfer-encoding';
    if (isHop || named.has(name) || NOT_PASSED_ON.test(name) || name === 'cookie') return false;
    return key === undefined || !String(value).includes(key);
  });
  const cookies = cookiesIn(headers.cookie).filter(
    ([name, value]) => name !== COOKIE && !isSessionCookie(name) && (key === undefined || !value.includes(key)),
  );
  const cookie = cookies.map((pair) => pair.join('=')).join('; ');
  return { ...Object.fromEntries(passedOn), ...(cookie && { cookie }) };
}

/** The headers for the browser. Cookies stay on the preview's own origin, and ours is not theirs to set. */
function outwardHeaders(answer: IncomingMessage): OutgoingHttpHeaders {
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
