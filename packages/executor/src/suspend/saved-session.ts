import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open, rename, cp, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureFolder } from '@tendon/protocol/node';

/** What a hibernated sandbox leaves to the restored one, in its private state. Written by the inside: nothing is believed of it. */
export interface SavedSession {
  readonly workingDir: string;
  /** Read by the next shell: variables, functions, aliases, options. */
  readonly shell: string;
  /** Of plugins to themselves, by their names. */
  readonly notes: Readonly<Record<string, unknown>>;
}

const MAX_SESSION_BYTES = 8 * 1024 * 1024;

export function hibernationFolder(stateDir: string): string {
  return join(stateDir, 'asleep');
}

/** It is there whole or not at all. */
export async function saveSession(stateDir: string, session: SavedSession): Promise<void> {
  const path = pathIn(stateDir);
  const text = JSON.stringify(session);
  if (Buffer.byteLength(text) > MAX_SESSION_BYTES) throw new Error('the variables of the shell take too much space');
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(`${path}.new`, path);
}

export function loadSession(stateDir: string): SavedSession | undefined {
  const path = pathIn(stateDir);
  try {
    if (!existsSync(path) || statSync(path).size > MAX_SESSION_BYTES) return undefined;
    const { workingDir, shell, notes } = JSON.parse(readFileSync(path, 'utf8')) as Partial<SavedSession>;
    if (typeof workingDir !== 'string' || typeof shell !== 'string') return undefined;
    return { workingDir, shell, notes: typeof notes === 'object' && notes !== null ? notes : {} };
  } catch {
    return undefined; // not a session: the shell starts afresh
  }
}

/** Once it has been taken up, it is of the past. */
export function forgetSession(stateDir: string): void {
  rmSync(pathIn(stateDir), { force: true });
  rmSync(hibernationFolder(stateDir), { recursive: true, force: true });
}

function pathIn(stateDir: string): string {
  return join(stateDir, 'session.json');
}

const MAX_FOLDER_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 20_000;
const DEADLINE_MS = 10_000;
const COPY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, force: true } as const;

/** Copies what lies in folders that end with this executor. Throws when it is too much, or cannot be read. */
export async function saveFolders(folders: readonly string[], into: string): Promise<void> {
  await rm(into, { recursive: true, force: true });
  const sizes = await Promise.all(folders.map((folder) => measureFolder(folder, { maxEntries: MAX_ENTRIES, deadlineMs: DEADLINE_MS })));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  if (bytes > MAX_FOLDER_BYTES || sizes.some(({ isComplete }) => !isComplete))
    throw new Error(`there is too much in ${folders.join(', ')}`);
  for (const [index, folder] of folders.entries()) {
    for (const name of await readdir(folder)) {
      await mkdir(join(into, String(index)), { recursive: true, mode: 0o700 });
      await cp(join(folder, name), join(into, String(index), name), { ...COPY, filter: isStorable });
    }
  }
}

/** Puts them back. What cannot be is left out: a restored sandbox is worth more. */
export async function restoreFolders(from: string, folders: readonly string[]): Promise<void> {
  for (const [index, folder] of folders.entries()) {
    const saved = join(from, String(index));
    if (!existsSync(saved)) continue;
    for (const name of await readdir(saved)) await cp(join(saved, name), join(folder, name), COPY).catch(() => {});
  }
}

/** Sockets and pipes have nobody at their other end any more. */
async function isStorable(path: string): Promise<boolean> {
  const entry = await lstat(path);
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}
