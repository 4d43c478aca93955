import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  constants,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutorFolder } from '../start/executor-folder.ts';
import { findProgram } from '../../processes/launch.ts';
import { INJECTED } from '../start/injected-places.ts';

/**
 * The executor and what it needs and an image need not have, in one folder: Node and a few tools with their own loader and
 * libraries, a bash that needs none, and busybox for images without any program. Taken from this host and stored below `cacheRoot`, one folder
 * for each set of sources; older ones go. A sandbox links it for itself, so a running one keeps what it started with.
 */
export async function injectedFolder(executor: ExecutorFolder, cacheRoot: string): Promise<string> {
  const sources = await findSources(executor);
  const name = `carried-${await keyOf(sources)}`;
  const folder = join(cacheRoot, name);
  if (await exists(join(folder, INJECTED_MARK))) return folder;
  await mkdir(cacheRoot, { recursive: true, mode: 0o700 });
  for (const old of await readdir(cacheRoot)) await rm(join(cacheRoot, old), { recursive: true, force: true });
  const fresh = `${folder}.${process.pid}`;
  await build(fresh, sources);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
  return folder;
}

/** What of it this host does not have, as names of Debian packages. */
export function missingToInject(): readonly string[] {
  const needed = { 'bash-static': 'bash-static', ldd: 'libc-bin', setsid: 'util-linux', mount: 'mount' };
  return Object.entries(needed).flatMap(([program, name]) => (findProgram(program) === undefined ? [name] : []));
}

/** The file that such a folder has when it is whole. */
export const INJECTED_MARK = '.complete';
const TOOLS = ['setsid', 'unshare', 'nsenter', 'mount'] as const;

interface Sources {
  readonly executorFolder: string;
  /** Its files, relative to the folder. */
  readonly executor: readonly string[];
  readonly node: string;
  readonly bash: string;
  readonly busybox: string | undefined;
  readonly tools: readonly string[];
  readonly loader: string;
  readonly libraries: readonly string[];
}

async function findSources(executor: ExecutorFolder): Promise<Sources> {
  const node = await realpath(executor.node);
  const tools = await Promise.all(TOOLS.map(async (name) => realpath(findProgram(name) ?? name)));
  const files = await filesBelow(executor.folder);
  const addons = files.filter((path) => path.endsWith('.node')).map((path) => join(executor.folder, path));
  const needed = (await Promise.all([node, ...tools, ...addons].map(neededBy))).flat();
  const loader = needed.find((path) => /^ld(?:-linux.*|64|-musl.*)?\.so/.test(basename(path)));
  if (loader === undefined) throw new Error('Node on this host has no loader that could be injected');
  const libraries = [...new Map(needed.filter((path) => path !== loader).map((path) => [basename(path), path])).values()];
  const bash = findProgram('bash-static');
  if (bash === undefined) throw new Error('bash-static is not installed');
  const busybox = findProgram('busybox');
  const isStatic = busybox !== undefined && (await neededBy(busybox)).length === 0;
  return {
    executorFolder: executor.folder,
    executor: files,
    node,
    bash: await realpath(bash),
    busybox: isStatic ? await realpath(busybox) : undefined,
    tools,
    loader,
    libraries,
  };
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Absolute paths of the libraries and the loader of a program; none of one that is linked statically. */
async function neededBy(path: string): Promise<readonly string[]> {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  const { stdout } = await promisify(execFile)('ldd', [path], { env, timeout: 10_000 }).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

async function keyOf({ executorFolder, executor, node, bash, busybox, tools, loader, libraries }: Sources): Promise<string> {
  const hash = createHash('sha256').update(await readFile(import.meta.filename).catch(() => ''));
  for (const path of [...executor.map((file) => join(executorFolder, file)), node, bash, busybox, ...tools, loader, ...libraries].filter(
    (each) => each !== undefined,
  )) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest('hex').slice(0, 20);
}

async function build(folder: string, { executorFolder, executor, node, bash, busybox, tools, loader, libraries }: Sources): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const inside = (path: string): string => join(folder, path.slice(INJECTED.root.length + 1));
  for (const path of [INJECTED.bin, INJECTED.lib, INJECTED.libexec, INJECTED.tools, INJECTED.executor])
    await mkdir(inside(path), { recursive: true, mode: 0o755 });
  await Promise.all([
    copy(loader, inside(INJECTED.loader)),
    ...libraries.map((path) => copy(path, join(inside(INJECTED.lib), basename(path)))),
    ...executor.map((path) => copy(join(executorFolder, path), join(inside(INJECTED.executor), path))),
    copy(node, inside(INJECTED.node)),
    copy(bash, inside(INJECTED.bash)),
    ...tools.map((path) => copy(path, join(inside(INJECTED.libexec), basename(path)))),
    ...TOOLS.map((name) => writeFile(join(inside(INJECTED.tools), name), wrapper(name), { mode: 0o755 })),
  ]);
  if (busybox !== undefined) await addApplets(busybox, inside(INJECTED.bin));
  await writeFile(join(folder, INJECTED_MARK), '');
}

/** The kernel starts a program only with the loader at the path it was built for; this script names the injected one. */
function wrapper(tool: string): string {
  return `#!${INJECTED.bash}\nexec ${INJECTED.loader} --library-path ${INJECTED.lib} ${INJECTED.libexec}/${tool} "$@"\n`;
}

async function addApplets(busybox: string, bin: string): Promise<void> {
  await copy(busybox, join(bin, 'busybox'));
  const { stdout } = await promisify(execFile)(busybox, ['--list'], { timeout: 10_000 });
  const names = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox' && !name.includes('/'));
  await Promise.all(names.map((name) => symlink('busybox', join(bin, name))));
}

/** Readable for anybody, whatever the umask of its installation was; without a second copy on the disk where that can be. */
async function copy(source: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  const from = await realpath(source); // a link to a link would lead into the image
  if (((await stat(from)).mode & 0o005) === 0o005 && (await link(from, to).then(...YES_OR_NO))) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
}

const YES_OR_NO = [() => true, () => false] as const;

function exists(path: string): Promise<boolean> {
  return stat(path).then(...YES_OR_NO);
}
