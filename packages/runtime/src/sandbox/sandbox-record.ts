import { setImmediate } from 'node:timers/promises';
import type { RecordStore } from '@tendon/core';
import type { DriverName, SandboxHandle } from '../drivers/driver.ts';

/** What is durable of a sandbox; the id is the conversation's. Stored after its end too: the next start must know that there was one. */
export type SandboxRecord = {
  readonly conversation_id: string;
  readonly driver: DriverName;
  readonly incarnation: string;
  readonly workspace: string;
  /** UTC ISO 8601; of this incarnation. */
  readonly started_at: string;
  /** What the workspace took when the conversation's first sandbox was given it; null where that was too much to count. */
  readonly given_bytes?: number | null;
  /** Its workspace is mounted read-only. */
  readonly read_only?: true;
} & (
  | { readonly state: 'starting' }
  | { readonly state: 'live'; readonly handle: SandboxHandle }
  /** `asleep` (a stored value) = hibernated: nothing of it runs, and the next start restores it. */
  | { readonly state: 'ended' | 'asleep'; readonly reason: string }
  /** Its store was restored from a backup: it must end, and its host must delete its state, before the next one starts. */
  | { readonly state: 'replaced' }
);

const COLLECTION = 'sandboxes';

/** Something of it may run. */
export function isThere(record: SandboxRecord | undefined): record is SandboxRecord & { readonly state: 'starting' | 'live' | 'replaced' } {
  return record?.state === 'starting' || record?.state === 'live' || record?.state === 'replaced';
}

export interface SandboxRecords {
  get(conversationId: string): Promise<SandboxRecord | undefined>;
  /** Resolves when it is durable. */
  put(record: SandboxRecord): Promise<void>;
  delete(conversationId: string): Promise<void>;
  /** The one that was started last first. */
  all(): AsyncIterable<SandboxRecord>;
}

export function sandboxRecords(records: RecordStore): SandboxRecords {
  return {
    get: (conversationId) => records.get<SandboxRecord>(COLLECTION, conversationId),
    put: (record) => records.put(COLLECTION, { id: record.conversation_id, sort: record.started_at, value: record }),
    delete: async (conversationId) => void (await records.delete(COLLECTION, conversationId)),
    async *all() {
      let before: { sort: string; id: string } | undefined;
      for (;;) {
        const page = await records.list<SandboxRecord>(COLLECTION, { limit: 100, ...(before && { before }) });
        for (const record of page) yield record.value;
        const last = page.at(-1);
        if (last === undefined) return;
        // A store answers at once: without this the loop would block the event loop until the last record.
        await setImmediate();
        before = { sort: last.sort, id: last.id };
      }
    },
  };
}
