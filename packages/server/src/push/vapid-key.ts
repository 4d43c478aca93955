/**
 * The key by which push services know this server (RFC 8292): made when the first device asks for it, sealed in the store, so that every
 * server of a storage has the same one. Devices subscribe with its public half, so with another key all of them are lost.
 */
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { RecordStore } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

const COLLECTION = 'push_key';
const ID = 'vapid';
/** RFC 8292 allows a day. */
const VALID_SECONDS = 12 * 3600;

interface StoredKey {
  /** Uncompressed, base64url. */
  readonly public: string;
  /** PKCS #8 in PEM. */
  readonly sealed: string;
}

export interface VapidKey {
  readonly public: string;
  readonly private: KeyObject;
}

/** Made now where there is none, or none that this server's secret opens. */
export async function vapidKey(records: RecordStore, jwtSecret: Secret): Promise<VapidKey> {
  const opened = (stored: StoredKey): VapidKey | undefined => {
    const pem = unseal(stored.sealed, jwtSecret);
    return pem === undefined ? undefined : { public: stored.public, private: createPrivateKey(pem) };
  };
  const known = await records.get<StoredKey>(COLLECTION, ID);
  const key = known && opened(known);
  if (key) return key;
  const made = newKey(jwtSecret);
  // Two servers that are asked at once agree on one.
  const stored = await records.update<StoredKey>(COLLECTION, ID, (now) => (now && opened(now) ? undefined : { sort: '', value: made }));
  return opened(stored!)!;
}

function newKey(jwtSecret: Secret): StoredKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
  return { public: point.toString('base64url'), sealed: seal(privateKey.export({ format: 'pem', type: 'pkcs8' }) as string, jwtSecret) };
}

interface Claims {
  readonly endpoint: string;
  /** `mailto:` or `https:`. */
  readonly contact: string;
  readonly now: Date;
}

/** The header `authorization` of a push. */
export function vapidHeader(key: VapidKey, { endpoint, contact, now }: Claims): string {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now.getTime() / 1000) + VALID_SECONDS, sub: contact };
  const unsigned = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(unsigned), { key: key.private, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${unsigned}.${signature.toString('base64url')}, k=${key.public}`;
}
