/**
 * The schema and its migrations, which run while servers of an earlier version are still working: a migration only adds, the first server
 * to start runs it once, and it locks no table for longer than an instant.
 */
import { StorageError } from '../../log/storage-error.ts';
import type { Database } from './database.ts';

/** How long an index of a large table may take. */
const INDEX_MS = 24 * 3_600_000;
/** Advisory lock that is held while the schema changes: "TNDN". */
const LOCK = 0x544e444e;

export type Migration =
  | string
  /** An index on a table that may be large: created concurrently, outside of a transaction. */
  | { readonly index: string; readonly on: string };

/**
 * Migration n turns schema n into schema n+1. A published migration is never edited.
 * @internal
 */
export const MIGRATIONS: readonly Migration[] = [
  `CREATE TABLE tendon.servers (
     id text COLLATE "C" PRIMARY KEY, -- new with each lease
     url text,                        -- where other servers reach it; none: it has the database alone
     holder text NOT NULL,            -- JSON: which process that is
     takes boolean NOT NULL,          -- new conversations
     load integer NOT NULL,           -- how many it has open
     released integer NOT NULL DEFAULT 0, -- how often it gave some up, for others to look
     since timestamptz NOT NULL,
     until timestamptz NOT NULL,      -- it extends this before then, or is taken for dead
     ended boolean NOT NULL DEFAULT false -- it may write nothing any more
   );
   CREATE TABLE tendon.logs (
     conversation_id text COLLATE "C" PRIMARY KEY,
     root_id text COLLATE "C" NOT NULL, -- of the group that has one owner: the conversation that delegated this one, or itself
     next_id bigint NOT NULL,
     last_timestamp text NOT NULL,
     owner text COLLATE "C",          -- the server that may append; none: who claims it first
     owner_epoch bigint NOT NULL      -- grows with each change of the owner
   ) WITH (fillfactor = 70);
   CREATE TABLE tendon.events (
     conversation_id text COLLATE "C" NOT NULL,
     id bigint NOT NULL,
     timestamp text NOT NULL,
     source text NOT NULL,
     body text NOT NULL,              -- JSON without meta fields, payloads taken out; text, because jsonb changes it
     payloads text,                   -- JSON: [[path, encoding, sha256], …]
     checksum bigint NOT NULL,
     PRIMARY KEY (conversation_id, id)
   );
   CREATE TABLE tendon.epochs (
     conversation_id text COLLATE "C" NOT NULL,
     from_id bigint NOT NULL,
     epoch text NOT NULL,
     PRIMARY KEY (conversation_id, from_id)
   );
   CREATE TABLE tendon.payloads (
     conversation_id text COLLATE "C" NOT NULL,
     hash text COLLATE "C" NOT NULL,  -- sha256 of the content
     deflated boolean NOT NULL,
     bytes bytea NOT NULL,
     PRIMARY KEY (conversation_id, hash)
   );
   ALTER TABLE tendon.payloads ALTER COLUMN bytes SET STORAGE EXTERNAL;
   CREATE TABLE tendon.snapshots (
     conversation_id text COLLATE "C" PRIMARY KEY,
     next_id bigint NOT NULL,
     last_checksum bigint NOT NULL,   -- of the event before next_id
     body text NOT NULL,
     checksum bigint NOT NULL         -- of body
   );
   CREATE TABLE tendon.records (
     collection text COLLATE "C" NOT NULL,
     id text COLLATE "C" NOT NULL,
     sort text COLLATE "C" NOT NULL,
     json text NOT NULL,
     version bigint NOT NULL,         -- grows with each change
     title tsvector,                  -- the trigrams of the title in lower case
     PRIMARY KEY (collection, id)
   );
   CREATE TABLE tendon.search_pages (
     conversation_id text COLLATE "C" NOT NULL,
     from_id bigint NOT NULL,
     to_id bigint NOT NULL,
     version text NOT NULL,
     trigrams tsvector,               -- none: its text was too long, and may be anything
     PRIMARY KEY (conversation_id, from_id)
   );`,
  { index: 'logs_by_owner', on: 'tendon.logs (owner) WHERE owner IS NOT NULL' },
  { index: 'logs_by_root', on: 'tendon.logs (root_id) WHERE root_id <> conversation_id' },
  { index: 'records_by_sort', on: 'tendon.records (collection, sort, id)' },
  { index: 'records_by_title', on: 'tendon.records USING gin (title)' },
  { index: 'search_pages_by_trigram', on: 'tendon.search_pages USING gin (trigrams)' },
];

/** Brings the schema up to date. Rejects with `StorageError` when a newer version made it, or the database cannot hold it. */
export async function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  let version = await versionOf(database);
  if (version === undefined) version = await begin(database);
  if (version > migrations.length) {
    throw new StorageError(
      'newer',
      `The database ${database.place} was upgraded by a newer version of Tendon: its schema is ${version}, this version knows ${migrations.length}. Nothing was changed; update Tendon.`,
    );
  }
  for (let number = version; number < migrations.length; number += 1) {
    const migration = migrations[number]!;
    if (typeof migration === 'string') await runOnce(database, number, migration);
    else {
      await makeIndex(database, migration);
      await runOnce(database, number, 'SELECT 1');
    }
  }
}

/** The version of the schema; `undefined` when no server has worked on the database yet. */
async function versionOf(database: Database): Promise<number | undefined> {
  const [found] = await database.write<{ exists: boolean; encoding: string }>(
    `SELECT to_regclass('tendon.schema') IS NOT NULL AS exists, current_setting('server_encoding') AS encoding`,
  );
  if (found!.encoding !== 'UTF8') {
    throw new StorageError('unusable', `The database ${database.place} has the encoding ${found!.encoding}: create one with UTF8.`);
  }
  if (!found!.exists) return undefined;
  return (await database.read<{ version: number }>('SELECT version FROM tendon.schema'))[0]?.version ?? 0;
}

async function begin(database: Database): Promise<number> {
  return database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await query('CREATE SCHEMA IF NOT EXISTS tendon');
    await query('CREATE TABLE IF NOT EXISTS tendon.schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL)');
    await query('INSERT INTO tendon.schema VALUES (1, 0) ON CONFLICT DO NOTHING');
    return (await query<{ version: number }>('SELECT version FROM tendon.schema'))[0]!.version;
  });
}

/** Runs a migration in one transaction with its number, so it runs once even when several servers start. */
async function runOnce(database: Database, number: number, sql: string): Promise<void> {
  await database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const [schema] = await query<{ version: number }>('SELECT version FROM tendon.schema');
    if (schema!.version !== number) return;
    await query(sql);
    await query('UPDATE tendon.schema SET version = $1', [number + 1]);
  });
}

/** An interrupted attempt leaves an invalid index, which Postgres never uses: drop it and create it again. */
async function makeIndex(database: Database, { index, on }: { readonly index: string; readonly on: string }): Promise<void> {
  const [broken] = await database.read<{ pid: number | null }>(
    `SELECT (SELECT pid FROM pg_stat_progress_create_index WHERE index_relid = indexrelid LIMIT 1) AS pid
     FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid`,
    [`tendon.${index}`],
  );
  if (broken && broken.pid === null) await database.write(`DROP INDEX CONCURRENTLY IF EXISTS tendon.${index}`);
  await database.write(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${index} ON ${on}`, [], INDEX_MS);
}
