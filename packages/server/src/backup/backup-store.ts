/**
 * Copies a store that may be in use. Only reads the home; what it writes is a folder of plain files.
 *
 * Invariants
 * BA1  The database is the state at one moment, and every blob that it names was linked before or after that moment.
 * BA2  The manifest is written last and the folder gets its name after it: a backup that was cut off has another name.
 */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { hashesOf, MANIFEST, type Manifest } from './manifest.ts';
import { copyUserFiles } from './user-files.ts';

export interface BackupOptions {
  readonly home: string;
  /** The folder to make; must not be there. */
  readonly to: string;
  readonly withSecrets: boolean;
  readonly now: Date;
  readonly onProblem: (sentence: string) => void;
}

export interface BackupSummary {
  readonly conversations: number;
  readonly files: number;
}

/** Rejects with a user-facing error; then nothing is left of the copy. */
export async function backupStore({ home, to, withSecrets, now, onProblem }: BackupOptions): Promise<BackupSummary> {
  const source = join(home, 'tendon.db');
  if (!(await isThere(source))) throw new Error(`${home} has nothing to back up: no tendon.db is there.`);
  if (await isThere(to)) throw new Error(`${to} is there already.`);
  const draft = `${to}.unfinished-${process.pid}`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    const blobs = { from: join(home, 'blobs'), to: join(draft, 'blobs') };
    for (const hash of await blobsIn(blobs.from)) await take(hash, blobs);
    const { used, conversations } = await copyDatabase(source, join(draft, 'tendon.db'), withSecrets);
    for (const hash of used) if (!(await take(hash, blobs))) onProblem(`blob ${hash} is missing; the event it belongs to says so.`);
    for (const hash of await blobsIn(blobs.to)) if (!used.has(hash)) await rm(pathOf(blobs.to, hash));
    if (withSecrets && (await isThere(join(home, 'jwt-secret')))) await copyFile(join(home, 'jwt-secret'), join(draft, 'jwt-secret'));
    await copyUserFiles(home, draft, onProblem);
    const files = await hashesOf(draft);
    const manifest: Manifest = {
      tendon_backup: 1,
      made_at: now.toISOString(),
      home: await realpath(home),
      with_secrets: withSecrets,
      files,
    };
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600, flush: true });
    await rename(draft, to);
    return { conversations, files: Object.keys(files).length };
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw cause;
  }
}

interface Copied {
  readonly used: ReadonlySet<string>;
  readonly conversations: number;
}

async function copyDatabase(from: string, to: string, withSecrets: boolean): Promise<Copied> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    await backup(source, to);
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to);
  try {
    // Processes of this machine mean nothing to another one.
    copy.exec(`DELETE FROM records WHERE collection = 'sandboxes'`);
    if (!withSecrets) copy.exec(WITHOUT_KEYS);
    copy.exec('VACUUM; PRAGMA journal_mode = DELETE');
    const hashes = copy.prepare('SELECT DISTINCT hash FROM blob_uses').all() as { hash: string }[];
    const { n } = copy.prepare(`SELECT count(*) AS n FROM records WHERE collection = 'conversations'`).get() as { n: number };
    return { used: new Set(hashes.map(({ hash }) => hash)), conversations: n };
  } finally {
    copy.close();
  }
}

/** They are sealed, but a backup lies about for longer than a key should. */
const WITHOUT_KEYS = `
  DELETE FROM records
    WHERE collection IN ('secrets', 'owned_secrets', 'owned_git_accounts', 'api_keys', 'shares', 'logins', 'mcp-logins', 'push_key', 'push_devices') OR (collection = 'settings' AND id <> 'default');
  UPDATE records SET json = json_set(json, '$.keys', json('{}')) WHERE collection = 'settings';
  UPDATE records SET json = json_set(json, '$.sealed', NULL) WHERE collection = 'triggers';
  UPDATE records SET json = json_set(json, '$.tool_servers', '') WHERE collection = 'conversations' AND json ->> '$.tool_servers' IS NOT NULL;
  UPDATE records SET json = json_remove(json, '$.model_access') WHERE collection = 'conversations';`;

interface Folders {
  readonly from: string;
  readonly to: string;
}

/** Blobs are written once and never changed, so another name for the same file is a copy. False: it is not there. */
async function take(hash: string, folders: Folders): Promise<boolean> {
  const [from, to] = [pathOf(folders.from, hash), pathOf(folders.to, hash)];
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await link(from, to);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    // Gone from the source, yet perhaps taken in the first round.
    if (code === 'ENOENT') return isThere(to);
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  }
  return true;
}

async function blobsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries.flatMap((path) => (/^[0-9a-f]{2}\/[0-9a-f]{62}$/.test(path) ? [path.replace('/', '')] : []));
}

function pathOf(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash.slice(2));
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
