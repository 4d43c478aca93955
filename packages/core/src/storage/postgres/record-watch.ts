/**
 * Owns the connection that listens for changes of records by other servers. Does not own the records.
 *
 * Invariants
 * RW1  After another server changes a watched collection, its watchers are called, every `POLL_MS` until they have read it. They may also be
 *      called without a change.
 * RW2  No change is missed. Notifications are trusted only after one has arrived on the connection; behind a pooler in transaction mode
 *      none does. Without them the collections are compared every `POLL_MS`.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { RecordWatcher } from '../storage.ts';
import type { Database } from './database.ts';

const CHANNEL = 'tendon_records';
const POLL_MS = 500;
/** How often a connection with notifications is checked. */
const PROBE_MS = 15_000;
const PROBE_WAIT_MS = 1_000;

export class RecordWatch {
  readonly #url: string;
  readonly #database: Database;
  /** Distinguishes the notifications of this server from those of others. */
  readonly #self = randomUUID();
  readonly #watchers = new Map<string, Set<RecordWatcher>>();
  readonly #seen = new Map<string, string>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(url: string, database: Database) {
    this.#url = url;
    this.#database = database;
  }

  watch(collection: string, onChange: RecordWatcher): () => void {
    const watchers = this.#watchers.get(collection) ?? new Set();
    this.#watchers.set(collection, watchers.add(onChange));
    this.#running ??= this.#run();
    return () => void watchers.delete(onChange);
  }

  /** The payload of a notification about a write; `null` when nobody watches the collection. */
  noticeOf(collection: string): string | null {
    return this.#watchers.has(collection) ? JSON.stringify([this.#self, collection]) : null;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const isTrusted = await this.#listen().catch(() => false);
      // Compare after a trusted connection too: changes since then were not notified.
      if (!signal.aborted) await this.#poll().catch(() => undefined);
      if (!isTrusted) await setTimeout(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves when the connection ends, with whether notifications arrived on it. */
  async #listen(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: PROBE_WAIT_MS * 5, keepAlive: true });
    const over = new AbortController();
    const end = (): void => over.abort();
    const signal = AbortSignal.any([over.signal, this.#closing.signal]);
    let arrived: (() => void) | undefined;
    client.on('error', end).on('end', end);
    client.on('notification', ({ payload = '' }) => {
      const [sender, collection] = JSON.parse(payload) as [string, string | null];
      if (sender !== this.#self) this.#call(collection ?? '');
      else if (collection === null) arrived?.();
    });
    let isTrusted = false;
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      while (!signal.aborted) {
        const probe = new Promise<boolean>((resolve) => (arrived = () => resolve(true)));
        // Over another connection: a pooler would bring what it sends on this one.
        await this.#database.write('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify([this.#self, null])]);
        if (!(await Promise.race([probe, setTimeout(PROBE_WAIT_MS, false, { signal })]))) return false;
        if (!isTrusted) await this.#poll();
        isTrusted = true;
        await setTimeout(PROBE_MS, undefined, { signal });
      }
    } catch {
      // The connection broke, or this is closing.
    } finally {
      client.end().catch(() => undefined);
    }
    return isTrusted;
  }

  /** Calls the watchers of each collection that has changed since the last comparison. */
  async #poll(): Promise<void> {
    const rows = await this.#database.read<{ collection: string; state: string }>(
      `SELECT collection, md5(string_agg(id || ' ' || version || ' ' || xmin, E'\\n' ORDER BY id)) AS state
       FROM tendon.records WHERE collection = ANY($1) GROUP BY collection`,
      [[...this.#watchers.keys()]],
    );
    const states = new Map(rows.map(({ collection, state }) => [collection, state]));
    for (const collection of this.#watchers.keys()) {
      const state = states.get(collection) ?? '';
      // Call them the first time too: the collection may have changed since the watcher read it.
      if (this.#seen.get(collection) !== state) this.#call(collection);
      this.#seen.set(collection, state);
    }
  }

  #call(collection: string): void {
    for (const onChange of this.#watchers.get(collection) ?? []) void this.#report(collection, onChange);
  }

  async #report(collection: string, onChange: RecordWatcher): Promise<void> {
    const { signal } = this.#closing;
    const isWanted = (): boolean => !signal.aborted && this.#watchers.get(collection)?.has(onChange) === true;
    while (isWanted()) {
      try {
        return void (await onChange());
      } catch {
        await setTimeout(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
