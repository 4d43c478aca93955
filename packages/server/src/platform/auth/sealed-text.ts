import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from '@tendon/core';

/** Text that the store keeps unreadable: `v1.<base64url of nonce, tag, ciphertext>`, AES-256-GCM under a key drawn from `secret`. */
export function seal(text: string, secret: Secret): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFrom(secret), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** The text, or `undefined` when it was sealed under another secret or changed since. */
export function unseal(sealed: string, secret: Secret): string | undefined {
  try {
    const bytes = Buffer.from(sealed.replace(/^v1\./, ''), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', keyFrom(secret), bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyFrom(secret: Secret): Buffer {
  return Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'tendon settings', 32));
}
