import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Storage } from '../storage.ts';
import { manualClock } from '../contract/manual-clock.ts';
import { message } from '../contract/message.ts';
import { TemporaryDatabase } from '../postgres/temporary-database.test-support.ts';
import { temporaryDatabase, type TemporaryDatabase as Home } from '../sqlite/temporary-database.test-support.ts';
import { copyStore } from './copy-store.ts';
import { openPostgresRows } from './postgres-rows.ts';
import { openSqliteRows } from './sqlite-rows.ts';
import type { StoredRows } from './stored-rows.ts';

let database: TemporaryDatabase;
let home: Home;
beforeAll(async () => {
  database = await TemporaryDatabase.create();
});
beforeEach(() => {
  home = temporaryDatabase();
  onTestFinished(async () => {
    await home.dispose();
    await database.empty();
  });
});

const noProblem = (sentence: string): void => expect.unreachable(sentence);
const openHome = (of = home) => openSqliteRows({ ...of, clock: manualClock() });
const openDatabase = () => openPostgresRows(database.url, manualClock());

/** Two openings, so that a log has two epochs; payloads of every kind of place. */
async function fill(): Promise<void> {
  for (const opening of [0, 1]) {
    const storage = await home.open();
    for (const id of ['a', 'b']) {
      const log = await storage.events.open(id);
      const contents = [`${opening}`, 'é'.repeat(20_000), 'x\ud800'.repeat(300_000)];
      const events = await log.append(contents.map(message), { expectedId: log.nextId });
      await log.storeSnapshot({ nextId: events.length, text: `snapshot ${id}` });
    }
    await storage.records.put('conversations', { id: 'a', sort: '1', value: { title: `Fix it ${opening}` } });
    await storage.records.put('settings', { id: 'default', sort: '', value: { keys: ['\0', opening] } });
    await storage.close();
  }
}

async function contentsOf(storage: Storage): Promise<unknown> {
  const logs = await Promise.all(['a', 'b'].map((id) => storage.events.open(id)));
  const read = logs.map(async (log) => {
    const events = await log.read();
    return [events, events.map(({ id }) => log.epochOf(id)), await log.snapshot()];
  });
  return [
    await Promise.all(read),
    await storage.records.list('conversations', { titled: 'fix' }),
    await storage.records.get('settings', 'default'),
  ];
}

it('EN1070: a home goes into a database and back, event for event, with epochs, payloads, snapshots and records', async () => {
  await fill();
  const before = await contentsOf(await home.open());
  await home.close();
  {
    await using from = await openHome();
    await using to = await openDatabase();
    expect(await copyStore(from, to, { onProblem: noProblem })).toEqual({ conversations: 2, events: 12, records: 2, found: 0 });
  }
  expect(await contentsOf(await database.open())).toEqual(before);
  await database.close();
  const other = temporaryDatabase();
  onTestFinished(other.dispose);
  {
    await using from = await openDatabase();
    await using to = await openHome(other);
    expect(await copyStore(from, to, { onProblem: noProblem })).toMatchObject({ conversations: 2, events: 12, records: 2 });
  }
  const back = await other.open();
  expect(await contentsOf(back)).toEqual(before);
  expect(back.findings).toEqual([]);
});

it('EN1071: a copy that was cut off goes on where it was, and one into a store with other conversations is refused', async () => {
  await fill();
  await using from = await openHome();
  await using to = await openDatabase();
  const cut: StoredRows = {
    ...methodsOf(from),
    events: (id, at) => (id === 'b' && at === 0 && (reads += 1) > 1 ? Promise.reject(new Error('cut off')) : from.events(id, at)),
  };
  let reads = 0;
  await expect(copyStore(cut, to, { onProblem: noProblem })).rejects.toThrow('cut off');
  expect(await to.conversationIds('')).toEqual(['a']);
  expect(await copyStore(from, to, { onProblem: noProblem })).toMatchObject({ conversations: 2, found: 1 });
  expect(await copyStore(from, to, { onProblem: noProblem })).toMatchObject({ conversations: 2, found: 2 });

  const other = temporaryDatabase();
  onTestFinished(other.dispose);
  await using empty = await openHome(other);
  await expect(copyStore(empty, to, { onProblem: noProblem })).rejects.toThrow(/conversations of its own, a among them/);
});

itInFull('EN1071: neither is copied while a server has it, and a payload that is missing is reported', async () => {
  await fill();
  const server = await home.open();
  await expect(openHome()).rejects.toMatchObject({ code: 'locked' });
  await server.close();
  await using from = await openHome();
  await using to = await openDatabase();
  await expect(database.open()).rejects.toMatchObject({ code: 'locked' });
  const problems: string[] = [];
  const lossy: StoredRows = {
    ...methodsOf(from),
    payload: (id, hash) => (id === 'a' ? Promise.resolve(undefined) : from.payload(id, hash)),
  };
  await copyStore(lossy, to, { onProblem: (sentence) => problems.push(sentence) });
  expect(problems).toEqual(Array(2).fill(expect.stringMatching(/^payload [0-9a-f]{64} of conversation a is missing/)));
});

function methodsOf(rows: StoredRows): StoredRows {
  return {
    conversationIds: (after) => rows.conversationIds(after),
    log: (id) => rows.log(id),
    events: (id, from) => rows.events(id, from),
    payloadHashes: (id) => rows.payloadHashes(id),
    payload: (id, hash) => rows.payload(id, hash),
    records: (after) => rows.records(after),
    replaceLog: (id, source) => rows.replaceLog(id, source),
    putRecords: (records) => rows.putRecords(records),
  };
}
