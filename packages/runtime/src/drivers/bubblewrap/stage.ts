import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostUser } from '../start/host-user.ts';
import { stagedEntry, type StagedMount } from '../start/staged-entry.ts';
import type { Bind } from './visible.ts';

export interface Staged {
  /** The same binds, from where the sandbox's uid can reach them. */
  readonly binds: readonly Bind[];
  /** Command that stages, gives up root and runs what follows. */
  readonly prefix: readonly string[];
}

/** For a server that is not root: nothing to do. `folder` gets one empty mount point for each private bind. */
export async function stage(binds: readonly Bind[], user: HostUser, folder: string): Promise<Staged> {
  if (!user.staged) return { binds, prefix: [] };
  const mounts: StagedMount[] = [];
  const moved = await Promise.all(
    binds.map(async (bind, index) => {
      if (!bind.isPrivate) return bind;
      const target = join(folder, String(index));
      await makeMountPoint(target, bind.descriptor !== undefined || (await stat(bind.source)).isDirectory());
      mounts.push({
        source: bind.descriptor ?? bind.source,
        target,
        idMapped: bind.idMapped ?? false,
        ...(bind.protects && { protects: bind.protects }),
      });
      return { ...bind, source: target };
    }),
  );
  return { binds: moved, prefix: stagedEntry(mounts, { ...user, inNewNamespace: true }) };
}

async function makeMountPoint(path: string, isFolder: boolean): Promise<void> {
  if (isFolder) await mkdir(path, { recursive: true, mode: 0o755 });
  else await writeFile(path, '', { mode: 0o644 });
}
