import { isTitled } from '../is-titled.ts';
import type { ListOptions, RecordStore, StoredRecord } from '../storage.ts';

interface Place {
  readonly sort: string;
  readonly id: string;
}

/** Records as JSON text, so that nothing is shared with the caller. */
export class MemoryRecordStore implements RecordStore {
  readonly #assertOpen: () => void;
  readonly #collections = new Map<string, Map<string, { readonly sort: string; readonly json: string }>>();

  constructor(assertOpen: () => void) {
    this.#assertOpen = assertOpen;
  }

  async get<T>(collection: string, id: string): Promise<T | undefined> {
    const found = this.#records(collection).get(id);
    return found && (JSON.parse(found.json) as T);
  }

  async put(collection: string, { id, sort, value }: StoredRecord): Promise<void> {
    this.#records(collection).set(id, { sort, json: JSON.stringify(value) });
  }

  async delete(collection: string, id: string): Promise<boolean> {
    return this.#records(collection).delete(id);
  }

  async list<T>(collection: string, { limit, before, titled }: ListOptions = {}) {
    const places = [...this.#records(collection)].map(([id, { sort, json }]) => ({ id, sort, json }));
    return places
      .filter((place) => !before || descending(before, place) < 0)
      .toSorted(descending)
      .map(({ id, sort, json }): StoredRecord<T> => ({ id, sort, value: JSON.parse(json) as T }))
      .filter(({ value }) => titled === undefined || isTitled(value, titled))
      .slice(0, limit);
  }

  #records(collection: string) {
    this.#assertOpen();
    let records = this.#collections.get(collection);
    if (!records) this.#collections.set(collection, (records = new Map()));
    return records;
  }
}

/** By UTF-8 bytes, as SQLite compares text. */
function descending(a: Place, b: Place): number {
  return compareBytes(b.sort, a.sort) || compareBytes(b.id, a.id);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
