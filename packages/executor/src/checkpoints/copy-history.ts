import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { toBytes, toSystem, toText } from './byte-path.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, S_IFMT, S_IFREG, S_IFDIR, S_IFLNK } = constants;
const MODE = 0o1777;

export interface HistoryBounds {
  readonly files: number;
  readonly bytes: number;
}

interface CopyParts {
  readonly workspace: string;
  /** Nobody else writes it. */
  readonly copy: string;
  readonly bounds: HistoryBounds;
  readonly breath: () => Promise<void> | undefined;
}

/**
 * Copies the `.git` of every folder that a copy of the workspace has, as it is now. Returns those that it has not copied, because they are
 * beyond the bounds or could not be read.
 *
 * Nothing is taken but what lies below the workspace: each folder and each file is opened without following a link, and is what the
 * system names by its path.
 */
export async function copyHistory(parts: CopyParts): Promise<readonly string[]> {
  const history = new HistoryCopy(parts);
  await history.below('');
  return history.left;
}

class HistoryCopy {
  readonly left: string[] = [];
  readonly #parts: CopyParts;
  readonly #workspace: string;
  readonly #copy: string;
  #files = 0;
  #bytes = 0;

  constructor(parts: CopyParts) {
    this.#parts = parts;
    this.#workspace = toBytes(parts.workspace);
    this.#copy = toBytes(parts.copy);
  }

  async below(path: string): Promise<void> {
    await this.#history(`${path}/.git`);
    for (const { name } of readdirSync(toSystem(this.#copy + path), { withFileTypes: true, encoding: 'latin1' }).filter((entry) =>
      entry.isDirectory(),
    ))
      if (name !== '.git') await this.below(`${path}/${name}`);
  }

  async #history(path: string): Promise<void> {
    const stats = lstatSync(toSystem(this.#workspace + path), { throwIfNoEntry: false });
    // A file in its place names the history of another folder, which that folder goes on using.
    if (!stats?.isDirectory()) return;
    try {
      await this.#folder(path);
    } catch (error) {
      if (!(error instanceof TooLarge) && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
      this.left.push(toText(path.slice(1)));
    }
  }

  async #folder(path: string): Promise<void> {
    const descriptor = this.#open(path, O_DIRECTORY);
    try {
      const at = this.#copy + path;
      mkdirSync(toSystem(at), { recursive: true, mode: 0o700 });
      for (const name of readdirSync(`/proc/self/fd/${descriptor}`, 'latin1')) {
        const wait = this.#parts.breath();
        if (wait) await wait;
        if (!isOfThisMoment(path, name)) await this.#entry(`${path}/${name}`);
      }
    } finally {
      closeSync(descriptor);
    }
  }

  async #entry(path: string): Promise<void> {
    const stats = lstatSync(toSystem(this.#workspace + path), { throwIfNoEntry: false });
    const type = (stats?.mode ?? 0) & S_IFMT;
    this.#files += 1;
    this.#bytes += stats?.size ?? 0;
    const { files, bytes } = this.#parts.bounds;
    if (this.#files > files || this.#bytes > bytes) throw new TooLarge();
    if (type === S_IFDIR) await this.#folder(path);
    if (type === S_IFLNK) symlinkSync(readlinkSync(toSystem(this.#workspace + path), 'buffer'), toSystem(this.#copy + path));
    if (type === S_IFREG) this.#file(path);
  }

  #file(path: string): void {
    const from = this.#open(path, O_NONBLOCK);
    try {
      const { mode } = fstatSync(from);
      if ((mode & S_IFMT) !== S_IFREG) return;
      copyFileSync(`/proc/self/fd/${from}`, toSystem(this.#copy + path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      const to = openSync(toSystem(this.#copy + path), O_RDONLY | O_NOFOLLOW);
      fchmodSync(to, (mode & MODE) | 0o600);
      closeSync(to);
    } finally {
      closeSync(from);
    }
  }

  /** Throws where a link has taken the place of something on the way. */
  #open(path: string, flags: number): number {
    const descriptor = openSync(toSystem(this.#workspace + path), O_RDONLY | O_NOFOLLOW | flags);
    if (readlinkSync(`/proc/self/fd/${descriptor}`, 'latin1') === this.#workspace + path) return descriptor;
    closeSync(descriptor);
    throw Object.assign(new Error('it is another file by now'), { syscall: 'open' });
  }
}

class TooLarge extends Error {}

/** What a command holds while it writes, and which other folders work with this history. */
function isOfThisMoment(folder: string, name: string): boolean {
  return name.endsWith('.lock') || (name === 'worktrees' && folder.endsWith('/.git'));
}
