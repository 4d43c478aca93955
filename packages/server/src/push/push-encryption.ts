/** What a push service passes on and cannot read: RFC 8291, with the content coding `aes128gcm` of RFC 8188 in a single record. */
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** A device's keys, in base64url: its public one (P-256, uncompressed), and the secret that authenticates. */
export interface DeviceKeys {
  readonly p256dh: string;
  readonly auth: string;
}

/** What every push service takes, RFC 8030 §7.2. */
const MAX_BODY_BYTES = 4096;
/** Salt, record size, length of the key, the key. */
const HEADER_BYTES = 16 + 4 + 1 + 65;
const TAG_BYTES = 16;
/** Marks the last record; what would follow is padding. */
const LAST_RECORD = Buffer.of(2);

/** How long a text in UTF-8 may be. */
export const MAX_MESSAGE_BYTES = MAX_BODY_BYTES - HEADER_BYTES - TAG_BYTES - LAST_RECORD.length;

/** The body of the request. Throws when the device's key is none. */
export function encryptedFor({ p256dh, auth }: DeviceKeys, message: string): Buffer {
  const [devicePublic, authSecret] = [Buffer.from(p256dh, 'base64url'), Buffer.from(auth, 'base64url')];
  const own = createECDH('prime256v1');
  const ownPublic = own.generateKeys();
  const shared = own.computeSecret(devicePublic);
  const salt = randomBytes(16);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), devicePublic, ownPublic]);
  const material = Buffer.from(hkdfSync('sha256', shared, authSecret, info, 32));
  const key = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: nonce\0', 12));
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const record = Buffer.concat([cipher.update(message, 'utf8'), cipher.update(LAST_RECORD), cipher.final(), cipher.getAuthTag()]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(MAX_BODY_BYTES);
  return Buffer.concat([salt, size, Buffer.of(ownPublic.length), ownPublic, record]);
}

/** Whether something can be encrypted for them. */
export function isUsable({ p256dh, auth }: DeviceKeys): boolean {
  try {
    const own = createECDH('prime256v1');
    own.generateKeys();
    own.computeSecret(Buffer.from(p256dh, 'base64url'));
    return Buffer.from(auth, 'base64url').length === 16;
  } catch {
    return false;
  }
}
