/**
 * The header that a server adds to a request it forwards to another, signed with a key that only the servers of the cluster know. It does
 * not authenticate the client: the receiver checks the client's own key, as with every request.
 *
 * HS1  The signature covers the fields of the header, and the method, URL, Host and Origin of the request.
 * HS2  A signature is valid for `WINDOW_MS` before and after its time. In that window the same request can be replayed, but no other.
 * HS3  An invalid header is removed, so that no later code can mistake it for a valid one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import type { Hop } from '../platform/http/client-of.ts';

export const HOP_HEADER = 'x-tendon-hop';
/** Tolerates clocks that differ. */
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

  /** Reads and removes the header; `undefined` when no server of this cluster forwarded the request. */
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
