import { fstatSync } from 'node:fs';
import { chown, lstat, mkdir, realpath, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { removeFolder } from '../../disk/remove-folder.ts';
import type { SandboxFolders, SandboxPlace, SandboxSpec } from '../driver.ts';
import { type HeldFolder, isWithin } from '../../workspace/held-folder.ts';
import { hostUser, type HostUser } from './host-user.ts';
import { sandboxFilter } from '../seccomp/sandbox-filter.ts';
import { ARCHITECTURES, type Architecture } from '../seccomp/calls.ts';
import { NOT_PROTECTED, protect, type Protection } from '../../workspace/protected/protect.ts';

export interface OwnFolders {
  /** Folders that no sandbox may see. */
  readonly hidden: readonly string[];
  /** The folder below a hidden one that was made for workspaces. */
  readonly workspacesFolder?: string;
  /** Names in a person's own workspace that agents may not change; `.git` means what git obeys there. Default none. */
  readonly protects?: readonly string[];
}

export interface RealFolders extends OwnFolders {
  /** The workspace of a sandbox that belongs to no conversation. */
  readonly scratch?: string;
}

/** By their real paths, as far as they exist now; with them that of all sandboxes. */
export async function ownFolders(configured: Partial<OwnFolders>, folders: SandboxFolders): Promise<RealFolders> {
  const real = async (path: string | undefined): Promise<string | undefined> => path && realpath(path).catch(() => undefined);
  const hidden = await Promise.all([...(configured.hidden ?? []), stateRootOf(folders)].map(real));
  const [workspacesFolder, scratch] = await Promise.all([configured.workspacesFolder, folders.scratch].map(real));
  return {
    hidden: hidden.filter((path) => path !== undefined),
    ...(workspacesFolder !== undefined && { workspacesFolder }),
    ...(scratch !== undefined && { scratch }),
  };
}

/** Throws when the workspace, by the real path at which it was opened, would give the server's own files away. */
export function refuseHidden({ path: workspace }: Pick<HeldFolder, 'path'>, { hidden, workspacesFolder, scratch }: RealFolders): void {
  if (isMadeForIt({ path: workspace }, { workspacesFolder, scratch })) return;
  const own = hidden.find((folder) => isWithin(workspace, folder));
  if (own !== undefined) throw new Error(`the folder ${workspace} belongs to the server itself and cannot be a workspace`);
}

/**
 * What the agents of this sandbox must not change, found and held. Nothing in a folder that was made for the conversation: no tool of
 * a person works there by itself.
 */
export async function protectWorkspace(
  { held, workspace, folders, isReadOnly }: SandboxSpec,
  own: RealFolders,
  names: readonly string[],
  canMount?: (path: string) => boolean,
): Promise<Protection> {
  const folder = heldOf({ held, workspace });
  // What is mounted onto itself could be left writable in a workspace that is not.
  if (isReadOnly || isMadeForIt(folder, own)) return NOT_PROTECTED;
  return protect(folder, names, { stateRoot: stateRootOf(folders), hostFolder: folders.host }, canMount);
}

/** The folder that holds all sandboxes' homes and journals. */
function stateRootOf({ home }: SandboxFolders): string {
  return join(home, '../..');
}

/** Whether a workspace is a folder that the server made only for that. */
function isMadeForIt(
  { path }: Pick<HeldFolder, 'path'>,
  { workspacesFolder, scratch }: Pick<RealFolders, 'workspacesFolder' | 'scratch'>,
): boolean {
  return path === scratch || (workspacesFolder !== undefined && path !== workspacesFolder && isWithin(path, workspacesFolder));
}

/** The workspace of a sandbox of this host. */
export function heldOf({ held, workspace }: Pick<SandboxPlace, 'held' | 'workspace'>): HeldFolder {
  if (held === undefined) throw new Error(`the folder ${workspace} is not on this host`);
  return held;
}

/** Who the sandbox of this spec is, by the server's user and the owner of the workspace. */
export function sandboxUser(place: SandboxPlace): HostUser {
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return hostUser(server, fstatSync(heldOf(place).descriptor()), basename(join(place.folders.home, '..')));
}

/** Makes the sandbox's folders and gives those that the inside writes to its user. */
export async function prepareFolders({ folders }: SandboxSpec, user: HostUser): Promise<void> {
  const home = await lstat(folders.home).catch(() => undefined);
  // The workspace has another owner now, who cannot open what the last one left.
  if (home !== undefined && user.staged && home.uid !== user.uid) await removeFolder(folders.home);
  for (const path of [folders.host, folders.proxy, folders.stage]) await mkdir(path, { recursive: true, mode: 0o755 });
  for (const path of [folders.home, folders.state, folders.link]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user.staged) await chown(path, user.uid, user.gid);
  }
}

export function hasFilter(architecture: string = process.arch): architecture is Architecture {
  return (ARCHITECTURES as readonly string[]).includes(architecture);
}

/** Path of the seccomp program for this machine, or none where there is no filter for its processor. */
export async function writeFilter(folder: string): Promise<readonly string[]> {
  if (!hasFilter(process.arch)) return [];
  const path = join(folder, 'seccomp.bpf');
  await writeFile(path, sandboxFilter(process.arch));
  return [path];
}
