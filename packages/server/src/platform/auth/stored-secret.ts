import { randomBytes, createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Secret } from '@tendon/protocol/masking';

/**
 * The secret in `file`, made on first use (32 random bytes, base64url) and readable by the owner only.
 * Two servers that start at once agree on one: the file appears whole or not at all, and the first one wins.
 */
export async function storedSecret(file: string): Promise<Secret> {
  const stored = await readSecret(file);
  if (stored) return stored;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readSecret(file);
  if (!made) throw new Error(unusable(file));
  return made;
}

async function readSecret(file: string): Promise<Secret | undefined> {
  let stored: Secret;
  try {
    stored = new Secret((await readFile(file, 'utf8')).trim());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(unusable(file), { cause });
  }
  if (!stored.isMaskable) throw new Error(unusable(file));
  return stored;
}

function unusable(file: string): string {
  return `${file} holds no usable secret; delete it and a new one is made`;
}

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
