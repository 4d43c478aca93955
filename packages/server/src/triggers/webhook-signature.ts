import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';

/** How a sender proves that it has the secret: GitHub signs the body, GitLab and everybody else send it along. */
export type Proof = 'signature' | 'token' | undefined;

/** `undefined`: it does not prove it. Comparisons take the same time whatever is wrong. */
export function proofOf(headers: IncomingHttpHeaders, body: Buffer, secret: Secret): Proof {
  const { 'x-hub-signature-256': signature, 'x-gitlab-token': gitlab, authorization = '' } = headers;
  if (typeof signature === 'string') {
    const expected = `sha256=${createHmac('sha256', secret.reveal()).update(body).digest('hex')}`;
    return isSame(signature, expected) ? 'signature' : undefined;
  }
  const token = typeof gitlab === 'string' ? gitlab : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token !== undefined && isSame(token, secret.reveal()) ? 'token' : undefined;
}

/** Of digests, so that not even the length shows. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * What distinguishes two deliveries. A signature covers the body alone, so the body is the name: with another id it is the same
 * delivery. `undefined`: the sender gave none, and each of its requests counts.
 */
export function deliveryName(headers: IncomingHttpHeaders, body: Buffer, proof: Proof): string | undefined {
  if (proof === 'signature') return `sha256:${createHash('sha256').update(body).digest('hex')}`;
  const given = [headers['idempotency-key'], headers['x-gitlab-event-uuid'], headers['x-github-delivery']];
  return given
    .find((name) => typeof name === 'string' && name !== '')
    ?.toString()
    .slice(0, 200);
}

/** As the sender calls it, for people who look for it there. */
export function shownName(headers: IncomingHttpHeaders): string {
  const { 'x-github-delivery': github, 'x-gitlab-event-uuid': gitlab, 'idempotency-key': key } = headers;
  const name = [github, gitlab, key].find((each) => typeof each === 'string' && each !== '') ?? 'webhook';
  return String(name)
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, 100);
}
