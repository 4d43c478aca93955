import { chown, lstat, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SandboxFolders, SandboxPlace, SandboxSpec } from './driver.ts';
import { hostUser, type HostUser } from './host-user.ts';
import { sandboxFilter } from './seccomp/sandbox-filter.ts';
import { SYSCALLS, type Architecture } from './seccomp/syscalls.ts';
import { isWithin } from './is-within.ts';

export interface OwnFolders {
  /** Folders that no sandbox may see. */
  readonly hidden: readonly string[];
  /** Below a hidden one, yet made for workspaces. */
  readonly workspacesFolder?: string;
}

/** By their real paths, as far as they exist now; with them the folder that holds all sandboxes' homes and journals. */
export async function ownFolders(configured: Partial<OwnFolders>, folders: SandboxFolders): Promise<OwnFolders> {
  const real = async (path: string | undefined): Promise<string | undefined> => path && realpath(path).catch(() => undefined);
  const stateRoot = join(folders.home, '../..');
  const hidden = await Promise.all([...(configured.hidden ?? []), stateRoot].map(real));
  const workspacesFolder = await real(configured.workspacesFolder);
  return { hidden: hidden.filter((path) => path !== undefined), ...(workspacesFolder !== undefined && { workspacesFolder }) };
}

interface Asked {
  readonly workspace: string;
  readonly folders: Pick<SandboxFolders, 'scratch'>;
}

/** Throws when the workspace would give the server's own files away. */
export function refuseHidden({ workspace, folders }: Asked, { hidden, workspacesFolder }: OwnFolders): void {
  if (workspace === folders.scratch) return;
  if (workspacesFolder !== undefined && workspace !== workspacesFolder && isWithin(workspace, workspacesFolder)) return;
  const own = hidden.find((folder) => isWithin(workspace, folder));
  if (own !== undefined) throw new Error(`the folder ${workspace} belongs to the server itself and cannot be a workspace`);
}

/** Who the sandbox of this spec is, by the server's user and the owner of the workspace. */
export async function sandboxUser({ workspace, folders }: SandboxPlace): Promise<HostUser> {
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return hostUser(server, await stat(workspace), basename(join(folders.home, '..')));
}

/** Makes the sandbox's folders and gives those that the inside writes to its user. */
export async function prepareFolders({ folders }: SandboxSpec, user: HostUser): Promise<void> {
  const home = await lstat(folders.home).catch(() => undefined);
  // The workspace has another owner now: what its last one left is closed to the new one.
  if (home !== undefined && user.staged && home.uid !== user.uid) await rm(folders.home, { recursive: true, force: true });
  for (const path of [folders.host, folders.proxy, folders.stage]) await mkdir(path, { recursive: true, mode: 0o755 });
  for (const path of [folders.home, folders.state, folders.link]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user.staged) await chown(path, user.uid, user.gid);
  }
}

export function hasFilter(architecture: string = process.arch): architecture is Architecture {
  return Object.hasOwn(SYSCALLS, architecture);
}

/** Path of the seccomp program for this machine, or none where there is no filter for its processor. */
export async function writeFilter(folder: string): Promise<readonly string[]> {
  if (!hasFilter(process.arch)) return [];
  const path = join(folder, 'seccomp.bpf');
  await writeFile(path, sandboxFilter(process.arch));
  return [path];
}
