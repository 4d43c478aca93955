import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';

/** How a sender proves that it knows the secret: GitHub signs the body, GitLab and others send the secret itself. */
export type Proof = 'signature' | 'token' | undefined;

/** `undefined` without a valid proof. Comparisons take constant time. */
export function proofOf(headers: IncomingHttpHeaders, body: Buffer, secret: Secret): Proof {
  const { 'x-hub-signature-256': signature, 'x-gitlab-token': gitlab, authorization = '' } = headers;
  if (typeof signature === 'string') {
    const expected = `sha256=${createHmac('sha256', secret.reveal()).update(body).digest('hex')}`;
    return isSame(signature, expected) ? 'signature' : undefined;
  }
  const token = typeof gitlab === 'string' ? gitlab : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token !== undefined && isSame(token, secret.reveal()) ? 'token' : undefined;
}

/** Compares digests, so that not even the length leaks. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Identifies a delivery. A signature covers the body alone, so the body identifies a signed one: resent with another id, it is the same
 * delivery. `undefined` when the sender gave no id: then each request is a delivery of its own.
 */
export function deliveryName(headers: IncomingHttpHeaders, body: Buffer, proof: Proof): string | undefined {
  if (proof === 'signature') return `sha256:${createHash('sha256').update(body).digest('hex')}`;
  const given = [headers['idempotency-key'], headers['x-gitlab-event-uuid'], headers['x-github-delivery']];
  return given
    .find((name) => typeof name === 'string' && name !== '')
    ?.toString()
    .slice(0, 200);
}

/** The sender's name for the delivery, by which people find it in the sender's own log. */
export function shownName(headers: IncomingHttpHeaders): string {
  const { 'x-github-delivery': github, 'x-gitlab-event-uuid': gitlab, 'idempotency-key': key } = headers;
  const name = [github, gitlab, key].find((each) => typeof each === 'string' && each !== '') ?? 'webhook';
  return String(name)
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, 100);
}
