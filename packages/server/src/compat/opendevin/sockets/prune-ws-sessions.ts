import { setImmediate } from 'node:timers/promises';
import type { RecordStore } from '@tendon/core';
import { WS_SESSIONS, type WsSessionRecord } from './ws-sessions.ts';

/** An empty session is worth little, one with a conversation is somebody's way back to it. */
const DAYS = { empty: 30, full: 365 };
const DAY_MS = 86_400_000;
const PAGE = 200;

/** Forgets sessions of old clients that were not used for long; their tokens stay good, and begin empty. Resolves with how many went. */
export async function pruneWsSessions(records: RecordStore, now: Date): Promise<number> {
  const before = (days: number): string => new Date(now.getTime() - days * DAY_MS).toISOString();
  let removed = 0;
  let after: { readonly sort: string; readonly id: string } | undefined;
  for (;;) {
    const page = await records.list<WsSessionRecord>(WS_SESSIONS, { limit: PAGE, ...(after && { before: after }) });
    for (const { id, sort, value } of page) {
      const { conversation = id } = value;
      const isFull = (await records.get('conversations', conversation)) !== undefined;
      // Of an earlier version: it counts from now on.
      if (sort === '') await records.put(WS_SESSIONS, { id, sort: now.toISOString(), value });
      else if (sort < before(isFull ? DAYS.full : DAYS.empty) && (await records.delete(WS_SESSIONS, id))) removed += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return removed;
    after = { sort: last.sort, id: last.id };
    await setImmediate(); // clients are served between
  }
}
