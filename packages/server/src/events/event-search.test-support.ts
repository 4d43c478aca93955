/** For tests: logs with words in them, and searches. */
import { join } from 'node:path';
import type { EventLog, Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { EventsQuery, MessageAction, RunObservation } from '@tendon/protocol';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import { EventSearch } from './event-search.ts';
import { findEvents } from './find-events.ts';

const QUICK = { now: () => new Date(), sleep: async () => undefined };
/** As if there were no index. */
export const READS_ALL: Pick<EventSearch, 'parts'> = { parts: async (_log, _words, within) => [within] };

export function searchOf(storage: Storage, { version = '1', problems = [] as unknown[] } = {}): EventSearch {
  const search = new EventSearch({ storage, clock: QUICK, version, onProblem: (cause) => problems.push(cause) });
  onTestFinished(() => search.close());
  return search;
}

export async function database(home = temporaryFolder()): Promise<Storage> {
  const storage = await openSqliteStorage({ path: join(home, 't.db'), blobDir: join(home, 'blobs'), clock: systemClock });
  onTestFinished(() => storage.close());
  return storage;
}

/** This many events with the words of their place, of all sizes, some with payloads outside the row. */
export async function filled(storage: Storage, count: number): Promise<EventLog> {
  const log = await storage.events.open('c');
  const more = (id: number): string => (id % 97 === 0 ? 'long '.repeat(60_000) : id % 11 === 0 ? 'x'.repeat(5_000) : '');
  const drafts = Array.from({ length: count }, (_, id) =>
    id % 3 === 0
      ? { source: 'agent' as const, ...RunObservation.create(`Output ${id} ${more(id)} "END${id}"`, { command: `echo ÄÖ-${id % 50}` }) }
      : { source: 'user' as const, ...MessageAction.create({ content: `Needle-${id % 500}\nline two of ${id}${more(id)}` }) },
  );
  for (let at = 0; at < count; at += 500) await log.append(drafts.slice(at, at + 500), { expectedId: at });
  return log;
}

const asks = (query: Partial<EventsQuery>): EventsQuery => EventsQuery.parse({ limit: 100, ...query });

export async function idsFound(log: EventLog, query: Partial<EventsQuery>, search: Pick<EventSearch, 'parts'>) {
  const { events, has_more } = await findEvents(log, asks(query), search);
  return { ids: events.map(({ id }) => id), has_more };
}
