/**
 * Owns the chain of the audit log in the records of the storage. It does not own what is worth an entry.
 *
 * AC1  There is one chain over all servers. A server appends by making the record of the next sequence, which only one of them can: the
 *      slower one reads on and takes a later one. So there is no gap, no lock, and nothing half-written after a kill.
 * AC2  No entry is changed or removed.
 * AC3  The head that is stored beside it is behind by at most `HEAD_MS`, and never ahead: a chain that is shorter was cut.
 */
import type { Clock, RecordStore } from '@tendon/core';
import { AuditEntry, AuditHead, type AuditQuery } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import { headOf, NOTHING_BEFORE, sealedEntry } from './sealed-entry.ts';

const ENTRIES = 'audit';
const HEADS = 'audit-head';
const HEAD_MS = 1_000;
/** Entries that are read at once. */
const PAGE = 500;
/** More are not looked through for one request. */
const MOST_READ = 10_000;

/** What an entry says, before it has its place. */
export type EntryContent = Omit<AuditEntry, 'sequence' | 'previous' | 'hash' | 'seal'>;

export class AuditChain {
  readonly #records: RecordStore;
  readonly #clock: Clock;
  readonly #key: Buffer;
  readonly #appending = new Mutex();
  readonly #closing = new AbortController();
  /** The newest entry that this server knows of; `undefined`: it has not looked. */
  #tail: AuditEntry | 'none' | undefined;
  #headDue: Promise<void> | undefined;

  constructor(records: RecordStore, { clock, key }: { readonly clock: Clock; readonly key: Buffer }) {
    this.#records = records;
    this.#clock = clock;
    this.#key = key;
  }

  /** Resolves when it is durable. Rejects with the storage's error. */
  append(content: EntryContent): Promise<AuditEntry> {
    return this.#appending.run(async () => {
      this.#tail ??= (await this.newest()) ?? 'none';
      for (;;) {
        const entry = this.#next(content);
        const id = idOf(entry.sequence);
        const there = await this.#records.update<AuditEntry>(ENTRIES, id, (now) => (now ? undefined : { sort: id, value: entry }));
        if (there?.hash === entry.hash) {
          this.#tail = entry;
          this.#headDue ??= this.#storeHead();
          return entry;
        }
        this.#tail = (await this.newest()) ?? 'none';
      }
    });
  }

  #next(content: EntryContent): AuditEntry {
    const { sequence, hash } = this.#tail === 'none' || !this.#tail ? { sequence: 0, hash: NOTHING_BEFORE } : this.#tail;
    return sealedEntry({ ...content, sequence: sequence + 1, previous: hash }, this.#key);
  }

  async newest(): Promise<AuditEntry | undefined> {
    const [record] = await this.#records.list(ENTRIES, { limit: 1 });
    if (!record) return undefined;
    const entry = AuditEntry.safeParse(record.value);
    if (!entry.success) throw new Error(`the newest record of the audit log, ${record.id}, is no entry: see "tendon audit verify"`);
    return entry.data;
  }

  /** Of the newest entry, or the stored one, where that shows that the chain was longer. */
  async head(): Promise<AuditHead | null> {
    const [newest, stored] = [await this.newest(), await storedHead(this.#records)];
    if (stored && stored.sequence > (newest?.sequence ?? 0)) return stored;
    return newest ? headOf(newest, this.#key) : null;
  }

  /** Newest first. `next` is where the next page begins. */
  async list({ limit, before, ...filter }: AuditQuery): Promise<{ readonly entries: readonly AuditEntry[]; readonly next: number | null }> {
    const entries: AuditEntry[] = [];
    let from = before;
    for (let read = 0; read < MOST_READ; read += PAGE) {
      const place = from === undefined ? {} : { before: { sort: idOf(from), id: idOf(from) } };
      const page = await this.#records.list(ENTRIES, { limit: PAGE, ...place });
      for (const { value, id } of page) {
        if (entries.length === limit) return { entries, next: from! };
        from = Number(id);
        // What is no entry is missing here, and so it is found.
        const { data } = AuditEntry.safeParse(value);
        if (data && fits(data, filter)) entries.push(data);
      }
      if (page.length < PAGE) return { entries, next: null };
    }
    return { entries, next: from! };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#headDue;
  }

  /** Behind the entries, so that none waits for it. */
  async #storeHead(): Promise<void> {
    await this.#clock.sleep(HEAD_MS, { signal: this.#closing.signal }).catch(() => undefined);
    this.#headDue = undefined;
    if (!this.#tail || this.#tail === 'none') return;
    const head = headOf(this.#tail, this.#key);
    const later = (now: AuditHead | undefined) => (now && now.sequence >= head.sequence ? undefined : { sort: '', value: head });
    await this.#records.update<AuditHead>(HEADS, 'head', later).catch(() => undefined); // The next one has its place.
  }
}

/** The head as it was stored last; what was stored in its place is no head. */
export async function storedHead(records: RecordStore): Promise<AuditHead | undefined> {
  return AuditHead.safeParse(await records.get(HEADS, 'head')).data;
}

/** Every record of the chain, oldest first, whatever was done to it. */
export async function* storedEntries(records: RecordStore): AsyncGenerator<unknown, void, undefined> {
  const [newest] = await records.list(ENTRIES, { limit: 1 });
  const end = newest ? Number(newest.id) : 0;
  for (let from = 0; from <= end; from += PAGE) {
    const before = idOf(from + PAGE);
    const page = await records.list(ENTRIES, { limit: PAGE, before: { sort: before, id: before } });
    yield* page
      .filter(({ id }) => id >= idOf(from))
      .toReversed()
      .map(({ value }) => value);
  }
}

function idOf(sequence: number): string {
  return String(sequence).padStart(16, '0');
}

type Filter = Omit<AuditQuery, 'limit' | 'before'>;

function fits({ actor: who, ...entry }: AuditEntry, { action, actor, target, outcome, since, until }: Filter): boolean {
  const time = Date.parse(entry.time);
  return (
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (actor === undefined || who.user === actor || who.name === actor) &&
    (target === undefined || entry.target === target) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (since === undefined || time >= Date.parse(since)) &&
    (until === undefined || time < Date.parse(until))
  );
}
