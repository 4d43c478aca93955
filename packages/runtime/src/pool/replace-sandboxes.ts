import type { RecordStore } from '@tendon/core';
import { sandboxRecords, type SandboxRecord } from '../sandbox/sandbox-record.ts';

const AT_ONCE = 500;

/**
 * Marks the sandboxes of a store that was restored from a backup, and those of the store that it replaced (`before`), as replaced. The
 * server does not use them again: its next start ends those that still run, and asks remote hosts to delete them.
 */
export async function replaceSandboxes(store: RecordStore, before: readonly SandboxRecord[]): Promise<void> {
  const records = sandboxRecords(store);
  const all = new Map<string, SandboxRecord>();
  for await (const record of records.all()) all.set(record.conversation_id, record);
  for (const record of before) all.set(record.conversation_id, record);
  const replaced = [...all.values()].map(({ conversation_id, driver, incarnation, workspace, started_at, host }) => ({
    ...{ conversation_id, driver, incarnation, workspace, started_at },
    // Only a remote host is named: the folders of this machine were set aside.
    ...(host?.kind === 'address' && { host }),
    state: 'replaced' as const,
  }));
  while (replaced.length > 0) await Promise.all(replaced.splice(-AT_ONCE).map((record) => records.put(record)));
}
