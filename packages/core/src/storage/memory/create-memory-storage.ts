import type { Clock } from '../../async/clock.ts';
import type { EventLog } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { Storage } from '../storage.ts';
import { MemoryLog } from './memory-log.ts';
import { MemoryPageIndex } from './memory-page-index.ts';
import { MemoryRecordStore } from './memory-record-store.ts';

/** Keeps everything in the process and forgets it with it; for tests, examples and throw-away runs. */
export function createMemoryStorage({ clock }: { readonly clock: Clock }): Storage {
  const logs = new Map<string, MemoryLog>();
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageError('closed', 'the storage is closed');
  };
  const pages = new MemoryPageIndex((id) => logs.get(id)?.nextId ?? 0);
  return {
    pages,
    events: {
      async open(conversationId): Promise<EventLog> {
        assertOpen();
        let log = logs.get(conversationId);
        if (!log) logs.set(conversationId, (log = new MemoryLog(conversationId, clock)));
        return log;
      },
      async delete(conversationId) {
        assertOpen();
        logs.get(conversationId)?.end(`conversation ${conversationId} was deleted`);
        logs.delete(conversationId);
        await pages.clear(conversationId);
      },
    },
    records: new MemoryRecordStore(assertOpen),
    findings: [],
    sweep: async () => 0,
    close: async () => {
      // After the appends that were accepted before: theirs is the next microtask.
      await Promise.resolve();
      closed = true;
      for (const log of logs.values()) log.end('the storage is closed');
    },
  };
}
