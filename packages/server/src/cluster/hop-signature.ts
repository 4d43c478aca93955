/**
 * What one server adds for another to a request that it passes on, signed with a key that only they have. It does not say who the client
 * is: the receiver asks for the client's own key, as of every request.
 *
 * HS1  The signature covers what the receiver takes from it, and the request that it came with: method, address, Host and Origin.
 * HS2  It counts for `WINDOW_MS` around its time; what it was sent with may be sent again in that time, and nothing else.
 * HS3  A header that is not valid is removed, so that nothing behind can take it for one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import type { Hop } from '../platform/http/client-of.ts';

export const HOP_HEADER = 'x-tendon-hop';
/** Clocks of servers differ a little. */
const WINDOW_MS = 30_000;
const MAX_CHARS = 1_000;
const FORM = /^1;(\d{1,16});([\w%.~-]{1,200});([\w%.~-]{0,200});([\w%.~-]{0,300});([\w-]{43})$/;

export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export class HopSignature {
  readonly #key: Buffer;

  constructor(jwtSecret: Secret) {
    this.#key = createHmac('sha256', jwtSecret.reveal()).update('tendon cluster').digest();
  }

  /** The value of the header. `now` in milliseconds. */
  sign(request: SignedRequest, { from, client, conversation = '' }: Hop, now: number): string {
    const parts = ['1', String(now), ...[from, client, conversation].map(encodeURIComponent)];
    return [...parts, this.#digest(request, parts).toString('base64url')].join(';');
  }

  /** What the request was passed on with; `undefined` where nobody of ours did. The header is gone afterwards. */
  take(request: IncomingMessage, now: number): Hop | undefined {
    const given = request.headers[HOP_HEADER];
    if (given === undefined) return undefined;
    strip(request);
    return typeof given === 'string' ? this.#read(request, given, now) : undefined;
  }

  #read(request: SignedRequest, given: string, now: number): Hop | undefined {
    const [, at, from, client, conversation, digest] = (given.length <= MAX_CHARS && FORM.exec(given)) || [];
    if (digest === undefined || Math.abs(now - Number(at)) > WINDOW_MS) return undefined;
    const wanted = this.#digest(request, ['1', at!, from!, client!, conversation!]);
    if (!timingSafeEqual(wanted, Buffer.from(digest, 'base64url'))) return undefined;
    const [sender, address, named] = [from!, client!, conversation!].map(decodeURIComponent);
    return { from: sender!, client: address!, ...(named && { conversation: named }) };
  }

  #digest({ method = 'GET', url = '/', headers }: SignedRequest, parts: readonly string[]): Buffer {
    const signed = JSON.stringify([method, url, headers.host ?? '', headers.origin ?? '', ...parts]);
    return createHmac('sha256', this.#key).update(signed).digest();
  }
}

function strip(request: IncomingMessage): void {
  delete request.headers[HOP_HEADER];
  const { rawHeaders } = request;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) if (rawHeaders[at]!.toLowerCase() === HOP_HEADER) rawHeaders.splice(at, 2);
}
