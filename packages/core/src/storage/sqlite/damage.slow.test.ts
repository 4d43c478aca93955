/** Rows that are not as they were written: every id still yields an event, the damaged ones say so, and the log goes on. */
import type { Event } from '@tendon/protocol';
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { StorageError } from '../../log/storage-error.ts';
import { contentOf, message } from '../contract/message.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

const EVENTS = 600;

describe('damaged rows', () => {
  let database: TemporaryDatabase;

  beforeEach(async () => {
    database = temporaryDatabase();
    const storage = await database.open();
    for (const conversation of ['c', 'd']) {
      const log = await storage.events.open(conversation);
      for (let id = 0; id < EVENTS; id += 100) {
        await log.append(
          Array.from({ length: 100 }, (_, n) => message(`${conversation}${id + n}`)),
          { expectedId: id },
        );
      }
    }
    await storage.close();
  });
  afterEach(() => database.dispose());

  function edit(sql: string): void {
    const db = new DatabaseSync(database.path);
    db.exec(sql);
    db.close();
  }

  const isDamaged = (event: Event): boolean =>
    'observation' in event && event.observation === 'error' && event.extras.error_id === 'STORAGE$DAMAGED';

  it.each([
    ['a changed body', "UPDATE events SET body = replace(body, 'c300', 'c301') WHERE conversation_id = 'c' AND id = 300", [300]],
    ['a changed time', "UPDATE events SET timestamp = '1999' WHERE conversation_id = 'c' AND id = 5", [5]],
    ['no JSON', "UPDATE events SET body = '{' WHERE conversation_id = 'c' AND id = 599", [599]],
    ['a missing row', "DELETE FROM events WHERE conversation_id = 'c' AND id = 255", [255]],
    [
      'missing rows at both ends of a page',
      "DELETE FROM events WHERE conversation_id = 'c' AND id IN (0, 1, 256, 511, 512)",
      [0, 1, 256, 511, 512],
    ],
    [
      'another row in its place',
      "DELETE FROM events WHERE conversation_id = 'c' AND id = 7; UPDATE events SET id = 7 WHERE conversation_id = 'c' AND id = 6",
      [6, 7],
    ],
  ])('EL14: %s', async (_, sql, damaged) => {
    edit(sql);
    const storage = await database.open();
    const log = await storage.events.open('c');
    await log.append([message('after')], { expectedId: EVENTS });
    for (const reverse of [false, true]) {
      const events = await log.read({ reverse });
      expect(events.map(({ id }) => id)).toEqual(Array.from({ length: EVENTS + 1 }, (__, id) => (reverse ? EVENTS - id : id)));
      expect(
        events
          .filter(isDamaged)
          .map(({ id }) => id)
          .toSorted((a, b) => a - b),
      ).toEqual(damaged);
    }
    const events = await log.read();
    expect(events.map(({ timestamp }) => timestamp)).toEqual(events.map(({ timestamp }) => timestamp).toSorted());
    expect((await (await storage.events.open('d')).read()).some(isDamaged)).toBe(false);
    for (const id of damaged) expect(storage.findings).toContainEqual(expect.stringMatching(new RegExp(`conversation c: event ${id} is`)));
  });

  it('EL14: followers come past damage', async () => {
    edit("DELETE FROM events WHERE conversation_id = 'c' AND id IN (10, 11)");
    const storage = await database.open();
    const seen: number[] = [];
    const stop = new AbortController();
    for await (const { id } of (await storage.events.open('c')).follow(8, stop)) {
      seen.push(id);
      if (id === 13) stop.abort();
    }
    expect(seen).toEqual([8, 9, 10, 11, 12, 13]);
  });

  itInFull('EL14: an unreadable page of the file costs its own rows, whichever it is', async () => {
    const intact = readFileSync(database.path);
    const pages = intact.length / 4096;
    const outcomes: string[] = [];
    // Page 1 is the schema: without it there is no database to open.
    for (let page = 1; page < pages; page++) {
      const scribbled = Buffer.from(intact);
      scribbled.fill(0xa5, page * 4096, page * 4096 + 200);
      writeFileSync(database.path, scribbled);
      outcomes.push(...(await whatIsLeft()));
    }
    expect(outcomes.filter((outcome) => !['intact', 'damage reported', 'refused'].includes(outcome))).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === 'damage reported').length).toBeGreaterThan(10);
  });

  /** One outcome a conversation. */
  async function whatIsLeft(): Promise<readonly string[]> {
    const refused = (error: StorageError): string => (error.code === 'unusable' ? 'refused' : String(error));
    try {
      const storage = await database.open();
      const outcomes = ['c', 'd'].map(async (conversation) => {
        const log = await storage.events.open(conversation);
        const events = await log.read();
        const wrong = events.filter((event) => !isDamaged(event) && contentOf(event) !== `${conversation}${event.id}`);
        return wrong.length > 0 ? `wrong events in ${conversation}` : events.some(isDamaged) ? 'damage reported' : 'intact';
      });
      const settled = await Promise.all(outcomes.map((outcome) => outcome.catch(refused)));
      await storage.close();
      return settled;
    } catch (error) {
      return [refused(error as StorageError)];
    }
  }
});
