/** What makes an entry of the audit log unchangeable: its hash, the hash of the one before, and a seal that needs the server's secret. */
import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { AuditEntry, AuditHead } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';

/** What the first entry follows. */
export const NOTHING_BEFORE = '0'.repeat(64);

/** Drawn from the secret of all servers: who has the database alone cannot make a seal. */
export function sealKey(jwtSecret: Secret): Buffer {
  return Buffer.from(hkdfSync('sha256', jwtSecret.reveal(), '', 'tendon audit', 32));
}

export function sealedEntry(content: Omit<AuditEntry, 'hash' | 'seal'>, key: Buffer): AuditEntry {
  const hash = hashOf(content);
  return { ...content, hash, seal: sealOf('entry', hash, key) };
}

/** SHA-256 over everything but the hash and the seal themselves. */
export function hashOf({ hash: _hash, seal: _seal, ...content }: Omit<AuditEntry, 'hash' | 'seal'> & Partial<AuditEntry>): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

export function isSealed({ hash, seal }: Pick<AuditEntry, 'hash' | 'seal'>, key: Buffer): boolean {
  return sealOf('entry', hash, key) === seal;
}

/** That the chain reaches at least so far. */
export function headOf({ sequence, hash }: Pick<AuditEntry, 'sequence' | 'hash'>, key: Buffer): AuditHead {
  return { sequence, hash, seal: sealOf('head', `${sequence} ${hash}`, key) };
}

function sealOf(kind: 'entry' | 'head', text: string, key: Buffer): string {
  return createHmac('sha256', key).update(`${kind} ${text}`).digest('hex');
}

/** The same text for the same value, whatever the order of its keys. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${pairs.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join(',')}}`;
}
