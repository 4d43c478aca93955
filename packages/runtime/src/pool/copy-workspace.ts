import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SandboxFolders } from '../drivers/driver.ts';
import type { ExecutorClient } from '../sandbox/executor-client.ts';

export interface CopyRequest {
  /** As it was at this one; default: as it is. */
  readonly checkpoint: number | undefined;
  /** 32 hexadecimal digits that name this copy and no other. */
  readonly name: string;
  /** Absolute, with nothing there yet: the copy, on this host. */
  readonly target: string;
  readonly signal: AbortSignal;
}

/**
 * The sandbox writes the copy into its private state, which the agent does not see; only the finished folder is put where it belongs, by
 * one rename. Nothing of the workspace is opened here.
 */
export async function copyWorkspace(
  client: Pick<ExecutorClient, 'copyWorkspace'>,
  folders: Pick<SandboxFolders, 'state'>,
  { checkpoint, name, target, signal }: CopyRequest,
): Promise<{ readonly left: readonly string[] }> {
  const copied = await client.copyWorkspace({ name, checkpoint: checkpoint ?? 0 }, { signal });
  await mkdir(dirname(target), { recursive: true });
  await rename(join(folders.state, 'copies', name), target);
  return copied;
}
