import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { freePort, waitFor } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, testServer } from '../server.test-support.ts';

/** The first schema, as it was published. */
const FIRST_SCHEMA = `
  CREATE TABLE events (conversation_id TEXT NOT NULL, id INTEGER NOT NULL, timestamp TEXT NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL,
    payloads TEXT, checksum INTEGER NOT NULL, PRIMARY KEY (conversation_id, id)) STRICT, WITHOUT ROWID;
  CREATE TABLE blob_uses (hash TEXT NOT NULL, conversation_id TEXT NOT NULL, PRIMARY KEY (hash, conversation_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_uses_by_conversation ON blob_uses (conversation_id);
  CREATE TABLE records (collection TEXT NOT NULL, id TEXT NOT NULL, sort TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (collection, id)) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_sort ON records (collection, sort, id);
  CREATE TABLE writer (one INTEGER PRIMARY KEY CHECK (one = 1), turn INTEGER NOT NULL) STRICT;
  INSERT INTO writer VALUES (1, 0);
  PRAGMA application_id = 0x544e444e; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;`;

it('SV215, SV1250: while the store of an earlier version is upgraded, the server answers at its address with its progress', async () => {
  const home = temporaryFolder();
  const port = await freePort();
  const db = new DatabaseSync(join(home, 'tendon.db'));
  onTestFinished(() => db.close());
  // Another process holds a write lock, so that the first step has to wait.
  db.exec(`${FIRST_SCHEMA} BEGIN IMMEDIATE`);
  const lines: string[] = [];
  const started = testServer({ home, env: { PORT: String(port) }, log: (line) => lines.push(line) });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    return answer && { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.text() };
  };
  const answered = async () => {
    for (;;) {
      const answer = await ask('/alive');
      if (answer?.body.includes('is being changed')) return answer;
    }
  };
  const upgrading = await waitFor(answered(), () => lines.join(''));
  expect(upgrading).toMatchObject({ status: 503, retryAfter: '2' });
  expect(JSON.parse(upgrading.body)).toMatchObject({ status: 'starting' });
  expect(upgrading.body).not.toContain(home);
  for (const path of ['/api/conversations', '/ready']) expect((await ask(path))?.status).toBe(503);
  db.exec('COMMIT');
  const server = await started;
  expect(await ask('/alive')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  for (const path of ['/api/conversations', '/ready']) expect((await server.get(path)).status).toBe(200);
  expect(lines.filter((line) => line.includes('the store'))).toHaveLength(2);
});
