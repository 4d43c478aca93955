import { close, closeSync, constants, fstatSync, lstatSync, mkdir, open } from 'node:fs';
import { resolve, isAbsolute, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * A folder that is known even when another has taken its name. A sandbox keeps what it was given: a workspace that somebody removes
 * lives on in it without a name, where nothing can be made, and what is put in its place is not seen inside.
 */
export interface HeldFolder {
  /** Where it was when it was opened: a path without links. */
  readonly path: string;
  /** `<device>:<inode>`; nothing else has it while this is held. */
  readonly identity: string;
  /** Names it, and nothing else, whatever is done to its path; good for this process while it is held. */
  readonly place: string;
  /** Throws when it is not held any more: the number may be another file's by then. */
  descriptor(): number;
  isRemoved(): boolean;
  close(): void;
}

/** Node has no name for it; the same on all its architectures. One may be opened so that may be passed through and not read. */
const O_PATH = 0o10_000_000;
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW | (process.platform === 'linux' ? O_PATH : constants.O_RDONLY);
const opened = promisify(open);
const closed = promisify(close);
const made = promisify(mkdir);

/**
 * Opens a folder by its real path, step by step: a link on the way is refused, also one that is put there while this looks. With
 * `makes` what is missing is made, in the same way. Rejects with a user-facing error.
 */
export async function holdFolder(path: string, { makes = false } = {}): Promise<HeldFolder> {
  if (resolve(path) !== path) throw new Error(`${path} is not the real path of a folder`);
  const descriptor = process.platform === 'linux' ? await descend(path, makes) : await openWhole(path, makes);
  return new OpenedFolder(path, descriptor);
}

class OpenedFolder implements HeldFolder {
  readonly path: string;
  readonly identity: string;
  #descriptor: number | undefined;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    this.identity = `${dev}:${ino}`;
  }

  get place(): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.descriptor()}/.` : this.path;
  }

  descriptor(): number {
    if (this.#descriptor === undefined) throw new Error(`the folder ${this.path} is not held any more`);
    return this.#descriptor;
  }

  isRemoved(): boolean {
    try {
      return this.#descriptor !== undefined && fstatSync(this.#descriptor).nlink === 0;
    } catch {
      return true; // a file server has forgotten it
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

async function descend(path: string, makes: boolean): Promise<number> {
  let at = await opened('/', FOLDER);
  for (const name of path.split('/').filter((part) => part !== '')) {
    const next = `/proc/self/fd/${at}/${name}`;
    try {
      const within = await opened(next, FOLDER).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' || !makes) throw inWords(error, path, next);
        await made(next).catch((cause: NodeJS.ErrnoException) => {
          if (cause.code !== 'EEXIST') throw cause;
        });
        return opened(next, FOLDER);
      });
      await closed(at);
      at = within;
    } catch (error) {
      await closed(at);
      throw error;
    }
  }
  return at;
}

/** Where no descriptor has a path there is no sandbox either, only the driver `none`. */
async function openWhole(path: string, makes: boolean): Promise<number> {
  if (makes) await made(path, { recursive: true });
  return opened(path, FOLDER).catch((error: NodeJS.ErrnoException) => {
    throw inWords(error, path, path);
  });
}

function inWords(error: NodeJS.ErrnoException, path: string, step: string): Error {
  if (error.code === 'ENOENT') return new Error(`the folder ${path} is not there any more: put it back, or make it, and try again`);
  if (error.code !== 'ENOTDIR' && error.code !== 'ELOOP') return new Error(`the folder ${path} cannot be opened: ${error.message}`);
  // A folder again, or nothing: they are swapped.
  const isLink = !lstatSync(step, { throwIfNoEntry: false })?.isFile();
  const found = isLink ? 'a link is in its place or above it, and a workspace is never opened through one' : 'what is there is no folder';
  return new Error(`the folder ${path} is not opened: ${found}. Put the folder back and try again`);
}

/** Whether `path` is `folder` or below it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
