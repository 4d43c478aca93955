import { setImmediate } from 'node:timers/promises';
import type { RecordStore } from '@tendon/core';
import type { DriverName, SandboxHandle } from '../drivers/driver.ts';

/** What is durable of a sandbox; the id is the conversation's. Stored after its end too: the next start must know that there was one. */
export type SandboxRecord = {
  readonly conversation_id: string;
  readonly driver: DriverName;
  readonly incarnation: string;
  readonly workspace: string;
  /** Where it is; a record of a version before this has none, and is of this machine. */
  readonly host?: SandboxHost;
  /** Names the folder of the workspace on whatever machine it is seen from; where it is on this one. */
  readonly workspace_is?: string;
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

/** Where a sandbox is, with its home, its state and, unless that is shared, its workspace. */
export type SandboxHost =
  | {
      readonly kind: 'machine';
      /** For people. */
      readonly name: string;
      /** Where the pids of its handle count. */
      readonly pids: string;
      /** The state root of the server that began it, and what its file `id` says. */
      readonly root: string;
      readonly root_id: string;
    }
  /** The address of an executor host, or a cluster with its namespace. */
  | { readonly kind: 'address'; readonly name: string };

const COLLECTION = 'sandboxes';

/** Something of it may run. */
export function isThere(record: SandboxRecord | undefined): record is SandboxRecord & { readonly state: 'starting' | 'live' | 'replaced' } {
  return record?.state === 'starting' || record?.state === 'live' || record?.state === 'replaced';
}

export interface SandboxRecords {
  get(conversationId: string): Promise<SandboxRecord | undefined>;
  /** Resolves when it is durable. */
  put(record: SandboxRecord): Promise<void>;
  /** Puts it in the place of a record of the same incarnation, if that is still the newest of its conversation. */
  replace(record: SandboxRecord): Promise<void>;
  delete(conversationId: string): Promise<void>;
  /** The one that was started last first. */
  all(): AsyncIterable<SandboxRecord>;
}

export function sandboxRecords(records: RecordStore): SandboxRecords {
  return {
    get: (conversationId) => records.get<SandboxRecord>(COLLECTION, conversationId),
    async replace(record) {
      const { conversation_id: id, incarnation, started_at: sort } = record;
      await records.update<SandboxRecord>(COLLECTION, id, (now) =>
        now?.incarnation === incarnation ? { sort, value: record } : undefined,
      );
    },
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
