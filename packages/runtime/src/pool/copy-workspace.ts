import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SandboxFolders } from '../drivers/driver.ts';
import type { ExecutorClient } from '../sandbox/executor-client.ts';

export interface CopyRequest {
  /** Copy the workspace as of this checkpoint; default: as it is now. */
  readonly checkpoint: number | undefined;
  /** 32 hexadecimal digits that identify this copy. */
  readonly name: string;
  /** Where the copy goes on this host: an absolute path that does not exist yet. */
  readonly target: string;
  readonly signal: AbortSignal;
}

/**
 * The sandbox writes the copy into its private state, which the agent does not see, and one rename moves the finished folder to its place.
 * The host opens no file of the workspace.
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
