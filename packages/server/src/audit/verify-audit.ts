import { AuditEntry, type AuditHead } from '@tendon/protocol';
import { hashOf, headOf, isSealed, NOTHING_BEFORE } from './sealed-entry.ts';

export type AuditVerdict =
  | { readonly ok: true; readonly entries: number; readonly newest: AuditEntry | undefined }
  /** `at`: the first place that is not as it was written. Everything before it is. */
  | { readonly ok: false; readonly at: number; readonly problem: string };

export interface VerifyOptions {
  /** Unset: the hashes are checked, and no seal. */
  readonly key?: Buffer | undefined;
  /** Where the chain is known to have been, each with or without a seal. */
  readonly heads?: readonly (Omit<AuditHead, 'seal'> & Partial<AuditHead>)[];
}

/** Walks the chain from its beginning. The entries are given oldest first, as they are stored. */
export async function verifyAudit(
  stored: AsyncIterable<unknown> | Iterable<unknown>,
  { key, heads = [] }: VerifyOptions,
): Promise<AuditVerdict> {
  const forged = heads.find(({ sequence, hash, seal }) => seal !== undefined && key && headOf({ sequence, hash }, key).seal !== seal);
  let newest: AuditEntry | undefined;
  for await (const one of stored) {
    const at = (newest?.sequence ?? 0) + 1;
    const parsed = AuditEntry.safeParse(one);
    const problem = parsed.success ? problemOf(parsed.data, newest, { key, heads }) : 'is no entry of an audit log';
    if (problem !== undefined) return { ok: false, at, problem };
    newest = parsed.data;
  }
  const entries = newest?.sequence ?? 0;
  const ahead = heads.find(({ sequence }) => sequence > entries);
  if (ahead)
    return { ok: false, at: entries + 1, problem: `was removed with all after it: the chain has reached ${ahead.sequence} before` };
  if (forged) return { ok: false, at: forged.sequence, problem: 'is named by a head that this server has not sealed' };
  return { ok: true, entries, newest };
}

function problemOf(entry: AuditEntry, before: AuditEntry | undefined, { key, heads = [] }: VerifyOptions): string | undefined {
  const at = (before?.sequence ?? 0) + 1;
  if (entry.sequence > at) return `is missing: ${entry.sequence} follows ${at - 1}`;
  if (entry.sequence < at) return `is not in its place: ${entry.sequence} stands there`;
  if (hashOf(entry) !== entry.hash) return 'was changed: its hash is of another content';
  if (entry.previous !== (before?.hash ?? NOTHING_BEFORE)) return 'follows another entry than the one before it';
  if (key && !isSealed(entry, key)) return 'was not written by a server with this secret: its seal is wrong';
  if (heads.some(({ sequence, hash }) => sequence === at && hash !== entry.hash)) return 'is another entry than it was before';
  return undefined;
}
