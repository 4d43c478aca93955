import type { Clock } from '../../clock.ts';
import type { EventLog, EventStore } from '../../log/event-log.ts';
import type { RecordStore, Storage, StoredRecord } from '../storage.ts';
import { MemoryLog } from './memory-log.ts';

/** Keeps everything in the process and forgets it with it; for tests, examples and throw-away runs. */
export function createMemoryStorage(options: { readonly clock: Clock }): Storage {
  const logs = new Map<string, MemoryLog>();
  return {
    events: memoryEvents(logs, options.clock),
    records: memoryRecords(),
    findings: [],
    close: async () => {
      for (const log of logs.values()) log.end('the storage is closed');
    },
  };
}

function memoryEvents(logs: Map<string, MemoryLog>, clock: Clock): EventStore {
  return {
    async open(conversationId): Promise<EventLog> {
      let log = logs.get(conversationId);
      if (!log) logs.set(conversationId, (log = new MemoryLog(conversationId, clock)));
      return log;
    },
    async delete(conversationId) {
      logs.get(conversationId)?.end(`conversation ${conversationId} was deleted`);
      logs.delete(conversationId);
    },
  };
}

function memoryRecords(): RecordStore {
  const collections = new Map<string, Map<string, { sort: string; json: string }>>();
  const collection = (name: string) => collections.get(name) ?? new Map<string, { sort: string; json: string }>();
  return {
    async get<T>(name: string, id: string) {
      const found = collection(name).get(id);
      return found && (JSON.parse(found.json) as T);
    },
    async put(name, record) {
      const records = collection(name);
      collections.set(name, records);
      records.set(record.id, { sort: record.sort, json: JSON.stringify(record.value) });
    },
    async delete(name, id) {
      return collection(name).delete(id);
    },
    async list<T>(name: string, { limit, before }: { limit?: number; before?: { sort: string; id: string } } = {}) {
      const all: StoredRecord<T>[] = [...collection(name)].map(([id, { sort, json }]) => ({ id, sort, value: JSON.parse(json) as T }));
      return all
        .filter((record) => !before || descending(before, record) < 0)
        .toSorted(descending)
        .slice(0, limit);
    },
  };
}

function descending(a: { sort: string; id: string }, b: { sort: string; id: string }): number {
  return compareBytes(b.sort, a.sort) || compareBytes(b.id, a.id);
}

/** By UTF-8 bytes, as SQLite compares text. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
