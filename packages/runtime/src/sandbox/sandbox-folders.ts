import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFolder } from '../disk/remove-folder.ts';
import type { SandboxFolders } from '../drivers/driver.ts';
import { INCARNATION } from '../incarnation.ts';
import { releasePlaces } from '../workspace/protected/held-places.ts';

/**
 * Where sandboxes keep their things: `<stateRoot>/<sandbox>/home` and `state`, `<stateRoot>/<sandbox>/<incarnation>/…`, and what must have a
 * short path (a unix socket's is at most 107 bytes, and macOS allows 103) in a folder of this server's own, `<short>/<incarnation>/…`.
 */
export interface FolderPlan extends FolderRemoval {
  readonly stateRoot: string;
  of(conversationId: string, incarnation: string): SandboxFolders;
  nameOf(conversationId: string): string;
  /**
   * Makes what all sandboxes share, and the folder that keeps it while this incarnation is there; before each start. Throws when
   * somebody else has put something in its place.
   */
  prepare(incarnation: string): void;
}

interface FolderRemoval {
  /** Folders of one incarnation that are on disk: sandbox name and incarnation. */
  list(): Promise<readonly { readonly sandbox: string; readonly incarnation: string }[]>;
  /** The private home and the state stay. What held places in the workspace goes with it. */
  removeIncarnation(sandbox: string, incarnation: string): Promise<void>;
  removeSandbox(sandbox: string): Promise<void>;
  /**
   * Homes and states of sandboxes that nobody knows, and the state root with the last one, and what all shared. Asks for the names of
   * those that are in use after it has looked: what begins to start from then on is not among what it has found.
   */
  removeUnused(usedNow: () => Promise<ReadonlySet<string>>): Promise<void>;
  /** Incarnations of this user whose state root is no more: nobody will ever ask for them. */
  abandoned(): Promise<readonly { readonly incarnation: string; readonly remove: () => Promise<void> }[]>;
}

const KERNELS = 'kernels';
/** Shared by all: packages for kernels, and what containers are given along. */
const SHARED = [KERNELS, 'carried'];
/** In the state root: names it, for other servers of this machine. */
export const ROOT_ID = 'id';
const MAX_SHORT_BYTES = 60;
/** In the short folder: the path of the state root that it belongs to. */
const POINTER = 'state-root';

export function planFolders(stateRoot: string): FolderPlan {
  const short = shortFolder(stateRoot);
  const nameOf = (conversationId: string): string => createHash('sha256').update(conversationId).digest('hex').slice(0, 16);

  return {
    stateRoot,
    nameOf,
    prepare(incarnation) {
      mkdirSync(stateRoot, { recursive: true, mode: 0o700 });
      if (!isOurs(short)) throw new Error(`the folder ${short} belongs to somebody else`);
      point(short, stateRoot);
      mkdirSync(join(short, incarnation), { recursive: true, mode: 0o755 });
    },
    of(conversationId, incarnation) {
      const own = join(stateRoot, nameOf(conversationId), incarnation);
      const near = join(short, incarnation);
      return {
        home: join(stateRoot, nameOf(conversationId), 'home'),
        state: join(stateRoot, nameOf(conversationId), 'state'),
        host: join(own, 'host'),
        link: join(near, 'link'),
        proxy: join(near, 'proxy'),
        stage: join(near, 'stage'),
        scratch: join(stateRoot, nameOf(conversationId), 'workspace'),
        kernels: join(stateRoot, KERNELS),
      };
    },
    list: () => listIncarnations(stateRoot, short),
    async removeIncarnation(sandbox, incarnation) {
      if (sandbox !== '') await releasePlaces(stateRoot, join(stateRoot, sandbox, incarnation, 'host'));
      if (sandbox !== '') await removeFolder(join(stateRoot, sandbox, incarnation));
      await removeShort(short, incarnation);
    },
    abandoned: () => findAbandoned(short),
    async removeUnused(usedNow) {
      const names = (await readdir(stateRoot).catch(() => [])).filter((name) => INCARNATION.test(name));
      const used = await usedNow();
      for (const name of names) if (!used.has(name)) await removeFolder(join(stateRoot, name));
      if (used.size === 0)
        await Promise.all([...SHARED, ROOT_ID].map((name) => rm(join(stateRoot, name), { recursive: true, force: true })));
      await rmdir(stateRoot).catch(() => {}); // something is in it
    },
    removeSandbox: (sandbox) => removeFolder(join(stateRoot, sandbox)),
  };
}

async function listIncarnations(stateRoot: string, short: string): ReturnType<FolderPlan['list']> {
  const found: { sandbox: string; incarnation: string }[] = [];
  for (const sandbox of await readdir(stateRoot).catch(() => [])) {
    for (const name of await readdir(join(stateRoot, sandbox)).catch(() => [])) {
      if (INCARNATION.test(name)) found.push({ sandbox, incarnation: name });
    }
  }
  for (const name of await readdir(short).catch(() => [])) {
    if (INCARNATION.test(name) && !found.some((one) => one.incarnation === name)) found.push({ sandbox: '', incarnation: name });
  }
  return found;
}

async function findAbandoned(short: string): ReturnType<FolderPlan['abandoned']> {
  const found: { incarnation: string; remove: () => Promise<void> }[] = [];
  for (const name of await readdir(dirname(short))) {
    const other = join(dirname(short), name);
    if (other === short || !name.startsWith('tendon-') || !isAbandoned(other)) continue;
    const incarnations = (await readdir(other)).filter((entry) => INCARNATION.test(entry));
    for (const incarnation of incarnations) found.push({ incarnation, remove: () => removeShort(other, incarnation) });
  }
  return found;
}

/** And with the last one the folder that held it: in one step, so that no sandbox begins to start in between. */
async function removeShort(short: string, incarnation: string): Promise<void> {
  await rm(join(short, incarnation), { recursive: true, force: true });
  try {
    const left = readdirSync(short);
    if (!left.every((name) => name.startsWith(POINTER))) return;
    for (const name of left) unlinkSync(join(short, name));
    rmdirSync(short);
  } catch {
    // gone already, or in use again
  }
}

/** Another server of this user may read it at any moment: it is never seen half written, and not written without need. */
function point(short: string, stateRoot: string): void {
  const pointer = join(short, POINTER);
  if (pointedTo(short) === stateRoot) return;
  const next = `${pointer}.${process.pid}`;
  writeFileSync(next, stateRoot, { mode: 0o600 });
  renameSync(next, pointer);
}

/** Empty where nothing can be read. */
function pointedTo(short: string): string {
  try {
    return readFileSync(join(short, POINTER), 'utf8');
  } catch {
    return '';
  }
}

function isAbandoned(short: string): boolean {
  const stateRoot = pointedTo(short);
  if (stateRoot === '' || existsSync(stateRoot)) return false;
  return lstatSync(short, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0);
}

/** Where a folder that only this user can write is to be had; the same for every start with this state root. */
function shortFolder(stateRoot: string): string {
  const uid = process.getuid?.() ?? 0;
  const tag = createHash('sha256').update(stateRoot).digest('hex').slice(0, 8);
  const runtimeFolder = uid === 0 ? '/run' : process.env.XDG_RUNTIME_DIR;
  const named = runtimeFolder && isWritable(runtimeFolder) ? join(runtimeFolder, `tendon-${tag}`) : undefined;
  const short = [named, join('/tmp', `tendon-${uid}-${tag}`)].find(
    (path) => path !== undefined && Buffer.byteLength(path) <= MAX_SHORT_BYTES,
  );
  if (short === undefined) throw new Error('there is no folder for sockets with a short enough path');
  return short;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes it if need be. Root's sandboxes have other uids and must be able to pass through. */
function isOurs(path: string): boolean {
  const uid = process.getuid?.() ?? 0;
  mkdirSync(path, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
  const entry = lstatSync(path);
  return entry.isDirectory() && entry.uid === uid && (entry.mode & 0o022) === 0;
}
