import { type DatabaseSync, backup } from 'node:sqlite';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../../log/storage-error.ts';
import { syncDir } from '../blobs/blob-store.ts';

/** The phases that take long with a large database. */
export type UpgradeProgress =
  | { readonly doing: 'copying'; readonly percent: number }
  | { readonly doing: 'migrating'; readonly from: number; readonly to: number; readonly copy: string };

/** "TNDN": distinguishes our files from other people's SQLite files. */
const APPLICATION_ID = 0x544e444e;

/** Number n of the list makes schema n+1 of schema n. A published one is never edited. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     conversation_id TEXT NOT NULL,
     id INTEGER NOT NULL,
     timestamp TEXT NOT NULL,
     source TEXT NOT NULL,
     body TEXT NOT NULL,       -- JSON without meta fields, payloads taken out
     payloads TEXT,            -- JSON: [[path, encoding, sha256], …]
     checksum INTEGER NOT NULL,
     PRIMARY KEY (conversation_id, id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE blob_uses (
     hash TEXT NOT NULL,
     conversation_id TEXT NOT NULL,
     PRIMARY KEY (hash, conversation_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX blob_uses_by_conversation ON blob_uses (conversation_id);
   CREATE TABLE records (
     collection TEXT NOT NULL,
     id TEXT NOT NULL,
     sort TEXT NOT NULL,
     json TEXT NOT NULL,
     PRIMARY KEY (collection, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX records_by_sort ON records (collection, sort, id);
   CREATE TABLE writer (one INTEGER PRIMARY KEY CHECK (one = 1), turn INTEGER NOT NULL) STRICT;
   INSERT INTO writer VALUES (1, 0);`,
  // What each conversation's agent delegated, by its id: deleting one reads no others.
  `INSERT OR IGNORE INTO records (collection, id, sort, json)
     SELECT 'delegations/' || parent, id, sort, '{}' FROM (
       SELECT id, sort, CASE WHEN json_valid(json) THEN json_extract(json, '$.delegated_by.conversation_id') END AS parent
       FROM records WHERE collection = 'conversations'
     ) WHERE parent IS NOT NULL;`,
  // From which event on a log is of which epoch; a log of before them has none, and its events keep the empty one.
  `CREATE TABLE epochs (
     conversation_id TEXT NOT NULL,
     from_id INTEGER NOT NULL,
     epoch TEXT NOT NULL,
     PRIMARY KEY (conversation_id, from_id)
   ) STRICT, WITHOUT ROWID;`,
  // A payload rides on the commit of its event. With row ids: the content does not go through the index.
  `CREATE TABLE payloads (
     conversation_id TEXT NOT NULL,
     hash TEXT NOT NULL,       -- sha256 of the content
     deflated INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     PRIMARY KEY (conversation_id, hash)
   ) STRICT;`,
  `CREATE TABLE snapshots (
     conversation_id TEXT PRIMARY KEY,
     next_id INTEGER NOT NULL,
     last_checksum INTEGER NOT NULL, -- of the event before next_id
     body TEXT NOT NULL,
     checksum INTEGER NOT NULL       -- of body
   ) STRICT;`,
  // Words in titles. A put only notes the id; what was noted is taken into the index by the next search (title-index.ts).
  `CREATE TABLE titles_changed (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
   INSERT INTO titles_changed SELECT id FROM records WHERE collection = 'conversations';
   CREATE TRIGGER title_of_new_record AFTER INSERT ON records WHEN new.collection = 'conversations' BEGIN
     INSERT INTO titles_changed SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM titles_changed WHERE id = new.id);
   END;
   CREATE TRIGGER title_of_changed_record AFTER UPDATE ON records WHEN new.collection = 'conversations' AND (
     old.sort <> new.sort
     OR coalesce(iif(json_valid(old.json), json_extract(old.json, '$.title'), ''), '')
       <> coalesce(iif(json_valid(new.json), json_extract(new.json, '$.title'), ''), '')
   ) BEGIN
     INSERT INTO titles_changed SELECT new.id WHERE NOT EXISTS (SELECT 1 FROM titles_changed WHERE id = new.id);
   END;
   CREATE TRIGGER title_of_removed_record AFTER DELETE ON records WHEN old.collection = 'conversations' BEGIN
     INSERT INTO titles_changed SELECT old.id WHERE NOT EXISTS (SELECT 1 FROM titles_changed WHERE id = old.id);
   END;
   CREATE TABLE titles (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sort TEXT NOT NULL, title TEXT NOT NULL);
   CREATE VIRTUAL TABLE title_text USING fts5(title, content = 'titles', content_rowid = 'number', tokenize = 'trigram');
   CREATE TRIGGER titles_added AFTER INSERT ON titles BEGIN
     INSERT INTO title_text (rowid, title) VALUES (new.number, new.title);
   END;
   CREATE TRIGGER titles_removed AFTER DELETE ON titles BEGIN
     INSERT INTO title_text (title_text, rowid, title) VALUES ('delete', old.number, old.title);
   END;`,
  // Which pages of a log may hold a text (sqlite-page-index.ts). Numbers are not given twice.
  `CREATE TABLE search_pages (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation_id TEXT NOT NULL,
     from_id INTEGER NOT NULL,
     to_id INTEGER NOT NULL,
     version TEXT NOT NULL,
     is_indexed INTEGER NOT NULL -- else its text was too long, and may be anything
   ) STRICT;
   CREATE UNIQUE INDEX search_pages_by_log ON search_pages (conversation_id, from_id);
   CREATE VIRTUAL TABLE search_text
     USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');`,
];

/** Throws `StorageError` when the file belongs to a newer version or to another program. Only reads. */
export function assertOurs(db: DatabaseSync, path: string, known: number = MIGRATIONS.length): void {
  const tables = (db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }).n;
  if (tables > 0 && pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new StorageError('foreign', `${path} is a database of another program. Nothing was changed.`);
  }
  const version = pragma(db, 'user_version');
  if (version > known) {
    throw new StorageError(
      'newer',
      `${path} was written by a newer version of Tendon: its schema is ${version}, this version knows ${known}. Nothing was changed; update Tendon to open it.`,
    );
  }
}

/**
 * Brings the schema up to date, one transaction a step; a step that fails leaves the schema before it. A new database is made at once.
 * An existing database is copied first.
 */
export async function migrate(
  db: DatabaseSync,
  path: string,
  migrations: readonly string[] = MIGRATIONS,
  onProgress: (progress: UpgradeProgress) => void = () => {},
): Promise<void> {
  const version = pragma(db, 'user_version');
  if (version >= migrations.length) return;
  // One commit, because each costs a sync that a new server would wait for.
  if (version === 0) return run(db, scriptOf(migrations.join('\n;\n'), migrations.length));
  const scripts = migrations.map((sql, index) => scriptOf(sql, index + 1)).slice(version);
  const copy = `${path}.schema-${version}`;
  await copyDatabase(db, copy, (percent) => onProgress({ doing: 'copying', percent }));
  onProgress({ doing: 'migrating', from: version, to: migrations.length, copy });
  await runInThread(path, scripts);
}

function scriptOf(sql: string, version: number): string {
  return `BEGIN IMMEDIATE;\n${sql}\n; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}; COMMIT`;
}

function run(db: DatabaseSync, script: string): void {
  try {
    db.exec(script);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return (db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name]!;
}

/** Pages that are copied before the event loop is yielded: 4 MB. */
const PAGES_AT_ONCE = 1024;

/**
 * Copies the database into the file `to`, which exists only when it is whole and synced, and which only its owner can read. An
 * existing file is replaced: it may be truncated, and is not newer. Nothing else may write to the database meanwhile.
 */
async function copyDatabase(db: DatabaseSync, to: string, onProgress: (percent: number) => void): Promise<void> {
  const unfinished = `${to}.unfinished`;
  const clear = (): void => ['', '-journal'].forEach((end) => rmSync(unfinished + end, { force: true }));
  clear();
  onProgress(0);
  // Created here, because SQLite would make it readable for others.
  closeSync(openSync(unfinished, 'w', 0o600));
  try {
    await backup(db, unfinished, {
      rate: PAGES_AT_ONCE,
      progress: ({ totalPages, remainingPages }) => onProgress(Math.floor(100 - (100 * remainingPages) / totalPages)),
    });
    syncFile(unfinished);
    renameSync(unfinished, to);
    await syncDir(dirname(to));
  } catch (error) {
    clear();
    throw error;
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** As text, because a bundle has no file that a worker could be started from. */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData.path, { timeout: 60000 });
  let problem;
  try {
    for (const script of workerData.scripts) db.exec(script);
  } catch (error) {
    problem = error.message;
    if (db.isTransaction) db.exec('ROLLBACK');
  }
  db.close();
  parentPort.postMessage(problem);
`;

/** Runs the scripts one after the other in a thread; each is a transaction, durable when it is over. Rejects with the first that fails. */
function runInThread(path: string, scripts: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, { eval: true, workerData: { path, scripts }, execArgv: [], env: {} });
    let problem: string | undefined = 'the thread ended early';
    worker.once('message', (message: string | undefined) => (problem = message));
    worker.once('error', (error) => (problem = error.message));
    worker.once('exit', () => (problem === undefined ? resolve() : reject(new Error(problem))));
  });
}
