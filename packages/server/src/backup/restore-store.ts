import { copyFile, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock, Storage } from '@tendon/core';
import { holdFolder, isWithin, replaceSandboxes, type SandboxRecord } from '@tendon/runtime';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { INSIDE } from '../sandboxes/workspace-folder.ts';
import { outsideRoots, realOf, workspaceRoots, type FolderRules, type WorkspaceRoots } from '../sandboxes/workspace-roots.ts';
import { verifiedManifest } from './manifest.ts';
import { partOf, userParts } from './user-files.ts';

export interface RestoreOptions {
  readonly from: string;
  readonly home: string;
  /** What this machine allows agents beside their own folders in the home. */
  readonly folders: Omit<FolderRules, 'home'>;
  /** Also when the home has conversations: they are put aside, not deleted. */
  readonly force: boolean;
  /** Also what is executed on this machine: hooks, tools and plugins; default: they stay as they are here. */
  readonly withPrograms?: boolean;
  readonly clock: Clock;
}

export interface RestoreSummary {
  readonly conversations: number;
  /** Where the old store is now. */
  readonly aside: string | undefined;
  /** Parts of the backup that are executed on this machine and were not restored. */
  readonly leftOut: readonly string[];
}

/** Its homes and journals belong to events that the backup does not have. */
const SANDBOXES = 'sandboxes';
const PARTS = ['tendon.db', 'tendon.db-wal', 'tendon.db-shm', 'blobs', 'jwt-secret'];

/**
 * Puts a backup into a home. Every file is verified, and the home is free of other processes, before anything is changed. Rejects with a
 * user-facing error.
 */
export async function restoreStore({ from, home, folders, force, withPrograms = false, clock }: RestoreOptions): Promise<RestoreSummary> {
  const manifest = await verifiedManifest(from);
  let aside: string | undefined;
  const before = (await isThere(join(home, 'tendon.db'))) ? await lookInto(home, clock) : NOTHING;
  const { conversations: count } = before;
  if (count > 0 && !force) throw new Error(`${home} has ${count} conversations. Name another --home, or put them aside with --force.`);
  const names = Object.keys(manifest.files);
  const own = userParts(names, { withPrograms });
  const leftOut = userParts(names, { withPrograms: true }).filter((part) => !own.includes(part));
  if (before !== NOTHING || (await isAnyThere([SANDBOXES, ...own], home)))
    aside = `${home}.before-restore-${clock.now().toISOString().replaceAll(/[:.]/g, '-')}`;
  const draft = join(home, `restore-${process.pid}`);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    for (const name of names.filter((each) => !leftOut.includes(partOf(each)))) {
      await mkdir(dirname(join(draft, name)), { recursive: true, mode: 0o700 });
      await copyFile(join(from, name), join(draft, name));
    }
    const roots = await workspaceRoots({ ...folders, home });
    const moved = moveWorkspaces(join(draft, 'tendon.db'), { oldHome: manifest.home, home: await realOf(home), roots });
    if ('fault' in moved) throw new Error(`The database of ${from} cannot be used: ${moved.fault}. Nothing was changed.`);
    await prepare(draft, before.sandboxes, clock).catch((cause: unknown) => {
      throw new Error(`The database of ${from} cannot be used: ${(cause as Error).message}. Nothing was changed.`, { cause });
    });
    const keeps = manifest.with_secrets ? PARTS : PARTS.filter((part) => part !== 'jwt-secret');
    if (aside) await moveAll([...keeps, SANDBOXES, ...own], home, aside);
    await moveAll([...PARTS, ...own], draft, home);
    for (const folder of moved.folders) (await holdFolder(folder, { makes: true })).close();
    return { conversations: moved.conversations, aside, leftOut };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A store that opens now also opens at the next start of the server, which finds the sandboxes marked as replaced. */
async function prepare(folder: string, before: readonly SandboxRecord[], clock: Clock): Promise<void> {
  const storage = await openIn(folder, clock);
  try {
    await replaceSandboxes(storage.records, before);
  } finally {
    await storage.close();
  }
}

interface Contents {
  readonly conversations: number;
  readonly sandboxes: readonly SandboxRecord[];
}

const NOTHING: Contents = { conversations: 0, sandboxes: [] };

/** Opening it proves that no other process has it. */
async function lookInto(home: string, clock: Clock): Promise<Contents> {
  const { records, close } = await openIn(home, clock);
  try {
    const sandboxes = (await records.list<SandboxRecord>('sandboxes')).map(({ value }) => value);
    return { conversations: (await records.list('conversations', { limit: 1_000_000 })).length, sandboxes };
  } finally {
    await close();
  }
}

async function openIn(folder: string, clock: Clock): Promise<Storage> {
  const { openSqliteStorage } = await import('@tendon/core/storage');
  return openSqliteStorage({ path: join(folder, 'tendon.db'), blobDir: join(folder, 'blobs'), clock });
}

interface Moved {
  readonly conversations: number;
  /** To be made: files of agents are no part of a backup. */
  readonly folders: readonly string[];
}

interface Move {
  readonly oldHome: string;
  readonly home: string;
  readonly roots: WorkspaceRoots;
}

/** Folders under the old home are under the new one from now on; others must be what this machine allows, for the backup may be anybody's. */
function moveWorkspaces(path: string, { oldHome, home, roots }: Move): Moved | { readonly fault: string } {
  const db = new DatabaseSync(path);
  try {
    // Nothing that the file brings along may run.
    db.exec('PRAGMA trusted_schema = OFF');
    const damage = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
    if (damage !== 'ok') return { fault: String(damage) };
    const rows = db.prepare(`SELECT id, json FROM records WHERE collection = 'conversations'`).all() as { id: string; json: string }[];
    const update = db.prepare(`UPDATE records SET json = ? WHERE collection = 'conversations' AND id = ?`);
    const folders: string[] = [];
    for (const { id, json } of rows) {
      const record = conversationIn(json);
      if (!record) return { fault: `the record of conversation ${id} is damaged` };
      const isMoved = record.workspace.startsWith(`${oldHome}/`);
      const workspace = isMoved ? join(home, record.workspace.slice(oldHome.length)) : record.workspace;
      if (isMoved && !workspace.startsWith(join(home, '/'))) return { fault: `the folder of conversation ${id} leads out of the home` };
      // Recorded where sandboxes are remote. On this machine it is a folder like any other, and every start holds it to the roots.
      const isRemote = resolve(workspace) === workspace && isWithin(workspace, INSIDE);
      const refusal = isRemote ? undefined : outsideRoots(workspace, roots);
      if (refusal !== undefined) return { fault: `conversation ${id} cannot go on here: ${refusal}` };
      if (!isMoved) continue;
      update.run(JSON.stringify({ ...record, workspace }), id);
      folders.push(workspace);
    }
    return { conversations: rows.length, folders };
  } catch (cause) {
    return { fault: (cause as Error).message };
  } finally {
    db.close();
  }
}

function conversationIn(json: unknown): StoredConversation | undefined {
  try {
    const record = JSON.parse(String(json)) as Partial<StoredConversation> | null;
    return typeof record?.workspace === 'string' ? (record as StoredConversation) : undefined;
  } catch {
    return undefined;
  }
}

async function moveAll(parts: readonly string[], from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const part of parts) if (await isThere(join(from, part))) await rename(join(from, part), join(to, part));
}

async function isAnyThere(parts: readonly string[], folder: string): Promise<boolean> {
  return (await Promise.all(parts.map((part) => isThere(join(folder, part))))).includes(true);
}

/** Also a link that leads nowhere: nothing can be put in its place. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
