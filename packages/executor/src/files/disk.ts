import { constants, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, readlink, realpath, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { reasonOf } from '../action-handler.ts';
import { EditFailure, NotText } from './failures.ts';
import { processStat } from '../processes/process-tree.ts';
import { isTemporary, temporaryName } from './temporary-name.ts';

export interface DiskOptions {
  /** Folders that are the executor's own. */
  readonly hidden: readonly string[];
  /** Absolute paths that are read-only in the workspace. */
  readonly readOnly?: readonly string[];
  /** Notes what is being written, so that it can be cleaned up; outlives the executor, and others may write there. */
  readonly notes: string;
}

const { O_RDONLY, O_NONBLOCK, O_DIRECTORY } = constants;
const MAX_LINKS = 40;
const PROTECTED =
  'is read-only in this sandbox: the tools of the person it belongs to run or obey what is there. The operator of the server can open it (SANDBOX_PROTECTED_PATHS)';

type Fill = Uint8Array | ((file: FileHandle) => Promise<void>);

/**
 * The executor's hands on files. Paths are the agent's and may change their meaning while they are used, and the executor sees
 * more than the agent does: its own journal and socket.
 *
 * 1. What is opened is judged after it was opened, by the name the system has for it; a change happens below the opened folder.
 *    So a link that is exchanged in between leads nowhere else.
 * 2. Nothing in the executor's own folders is read, listed, written or made.
 *    What is read-only in the workspace (SANDBOX_PROTECTED_PATHS) is refused in words; the mounts on it refuse it in any case.
 * 3. A file is replaced whole or not at all. Mode and owner stay, and a link stays a link; of a file with several names (hard
 *    links) the others keep the old content. A temporary file that a kill left behind is removed at the next start.
 */
export class Disk {
  readonly #hidden: readonly string[];
  readonly #readOnly: readonly string[];
  readonly #notes: string;
  readonly #cleaned: Promise<void>;

  constructor({ hidden, notes, readOnly = [] }: DiskOptions) {
    this.#hidden = hidden;
    this.#readOnly = readOnly;
    this.#notes = notes;
    this.#cleaned = removeLeftovers(notes);
  }

  /** Throws `EditFailure` for a path that is read-only in the workspace. */
  refuseReadOnly(path: string): void {
    this.#refuseReadOnlyTarget(path, path);
  }

  /** A regular file. Throws `NotText` for anything else, without waiting for a pipe's other end. */
  async open(path: string): Promise<FileHandle> {
    const handle = await open(path, O_RDONLY | O_NONBLOCK);
    try {
      await this.#refuseOwn(handle, path);
      if (!(await handle.stat()).isFile()) throw new NotText('it is not a regular file'); // a device never ends
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Makes missing folders above it. Throws what the file system says; then the old content is there. */
  async replace(path: string, fill: Fill): Promise<void> {
    await this.#cleaned;
    this.refuseReadOnly(path);
    await (await this.#openFolder(dirname(path), path)).close();
    await this.#inFolderOf(path, async ({ at, real, handle }, name) => {
      const before = await lstat(join(at, name)).catch(() => undefined);
      if (before && !before.isFile()) throw new Error(`${path} is not a regular file`);
      const temporary = temporaryName();
      const done = await noted(this.#notes, join(real, temporary));
      try {
        await write(join(at, temporary), before, fill);
        await rename(join(at, temporary), join(at, name));
      } catch (error) {
        await rm(join(at, temporary), { force: true });
        throw error;
      } finally {
        await done();
      }
      await handle.sync().catch(() => {}); // not every file system syncs folders
    });
  }

  /** What is in a folder. */
  async list(path: string): Promise<Dirent[]> {
    await using handle = await open(path, O_RDONLY | O_DIRECTORY);
    await this.#refuseOwn(handle, path);
    return await readdir(await pathOf(handle, path), { withFileTypes: true });
  }

  /** No error when there is none. */
  remove(path: string): Promise<void> {
    return this.#inFolderOf(path, ({ at }, name) => rm(join(at, name), { force: true }));
  }

  async #refuseOwn(handle: FileHandle, path: string): Promise<void> {
    const real = await nameOf(handle);
    if (real !== undefined && this.#hidden.some((folder) => `${real}${sep}`.startsWith(`${folder}${sep}`)))
      throw new EditFailure(`${path} belongs to the runtime itself`);
  }

  /** Opens a folder, which is made where it is missing, and so are those above it. */
  async #openFolder(folder: string, path: string): Promise<FileHandle> {
    const isThere = await open(folder, O_RDONLY | O_DIRECTORY).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (isThere) return isThere;
    await using above = await this.#openFolder(dirname(folder), path);
    await this.#refuseOwn(above, path);
    const made = join(await pathOf(above, dirname(folder)), basename(folder));
    await mkdir(made).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await open(made, O_RDONLY | O_DIRECTORY); // before the folder above is closed, through which it is named
  }

  #refuseReadOnlyTarget(path: string, target: string): void {
    if (this.#readOnly.some((each) => target === each || target.startsWith(`${each}${sep}`))) throw new EditFailure(`${path} ${PROTECTED}`);
  }

  /** Does the work in the folder that holds the file, with a path to that folder which cannot come to mean another. */
  async #inFolderOf<T>(path: string, work: (folder: { at: string; real: string; handle: FileHandle }, name: string) => Promise<T>) {
    const target = await followed(path);
    this.#refuseReadOnlyTarget(path, target);
    const real = dirname(target);
    const handle = await open(real, O_RDONLY | O_DIRECTORY);
    const at = await pathOf(handle, real);
    try {
      await this.#refuseOwn(handle, path);
      return await work({ at, real, handle }, basename(target));
    } catch (error) {
      throw at === real || error instanceof EditFailure ? error : new Error(reasonOf(error).replaceAll(at, real), { cause: error });
    } finally {
      await handle.close();
    }
  }
}

async function write(
  path: string,
  before: { readonly mode: number; readonly uid: number; readonly gid: number } | undefined,
  fill: Fill,
): Promise<void> {
  const file = await open(path, 'wx', 0o666);
  try {
    if (typeof fill === 'function') await fill(file);
    else await file.writeFile(fill);
    if (before) {
      const now = await file.stat();
      if (now.uid !== before.uid || now.gid !== before.gid) await file.chown(before.uid, before.gid).catch(() => {}); // not ours to give
      await file.chmod(before.mode & 0o1777); // not set-user-id or set-group-id: a write takes these away
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The file that a path means, links followed, also where it does not exist yet. */
async function followed(path: string, links = 0): Promise<string> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : Promise.reject(error)));
  if (real !== undefined) return real;
  const here = join(await realpath(dirname(path)), basename(path));
  const target = await readlink(here).catch(() => undefined);
  if (target === undefined || links === MAX_LINKS) return here;
  return followed(resolve(dirname(here), target), links + 1);
}

/** The path of what is open; nothing where the system does not say. */
function nameOf(handle: FileHandle): Promise<string | undefined> {
  return readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
}

/** A path to an open folder which cannot come to mean another; `otherwise` where the system has none. */
async function pathOf(handle: FileHandle, otherwise: string): Promise<string> {
  return (await nameOf(handle)) === undefined ? otherwise : `/proc/self/fd/${handle.fd}`;
}

/** Notes a temporary file; call the result when it is gone. */
async function noted(folder: string, temporary: string): Promise<() => Promise<void>> {
  const note = join(folder, basename(temporary));
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
  const text = `${process.pid} ${processStat(process.pid)?.startedAt} ${temporary}`;
  await writeFile(note, text, { mode: 0o600 }).catch(() => {}); // then a kill in this moment leaves the file
  return () => rm(note, { force: true });
}

/**
 * The notes are in the agent's reach: they are believed only as far as they name what this program makes. Without a sandbox all executors
 * of a home have the same folder: what one that lives is writing stays.
 */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const note = join(folder, name);
    const [, pid, startedAt, temporary = ''] = /^(?:(\d+) (\d+) )?(.*)$/s.exec(await readFile(note, 'utf8').catch(() => '')) ?? [];
    if (pid !== undefined && processStat(Number(pid))?.startedAt === Number(startedAt)) continue;
    if (isTemporary(basename(temporary))) await rm(temporary, { force: true }).catch(() => {});
    await rm(note, { force: true, recursive: true }).catch(() => {});
  }
}
