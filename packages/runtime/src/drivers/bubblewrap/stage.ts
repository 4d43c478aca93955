import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostUser } from '../start/host-user.ts';
import { stagedEntry, type StagedMount } from '../start/staged-entry.ts';
import type { Bind } from './visible.ts';

export interface Staged {
  /** The same binds, from where they are staged. */
  readonly binds: readonly Bind[];
  /** Command that stages, gives up its rights and runs what follows. */
  readonly prefix: readonly string[];
}

/**
 * For root every private bind; for an ordinary user, who can reach them all, those with a descriptor. `folder` gets one empty mount
 * point for each.
 */
export async function stage(binds: readonly Bind[], user: HostUser, folder: string): Promise<Staged> {
  const mounts: StagedMount[] = [];
  const moved = await Promise.all(
    binds.map(async (bind, index) => {
      if (user.staged ? !bind.isPrivate : bind.descriptor === undefined) return bind;
      const target = join(folder, String(index));
      await makeMountPoint(target, bind.descriptor !== undefined || (await stat(bind.source)).isDirectory());
      mounts.push({
        source: bind.source,
        ...(bind.descriptor !== undefined && { descriptor: bind.descriptor }),
        target,
        idMapped: bind.idMapped ?? false,
        ...(bind.protects && { protects: bind.protects }),
      });
      return { ...bind, source: target };
    }),
  );
  if (mounts.length === 0) return { binds, prefix: [] };
  return { binds: moved, prefix: stagedEntry(mounts, { ...user, namespace: user.staged ? 'mounts' : 'user' }) };
}

async function makeMountPoint(path: string, isFolder: boolean): Promise<void> {
  if (isFolder) await mkdir(path, { recursive: true, mode: 0o755 });
  else await writeFile(path, '', { mode: 0o644 });
}
