import { cp, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { INJECTED_MARK, injectedFolder } from '@tendon/runtime';
import { findExecutor } from '@tendon/server/sandboxes';

/**
 * Fills `folder` with all that makes a container of any image a sandbox: the executor, Node, and tools with their own loader and libraries. An
 * image of Tendon has them ready, from any other they are taken from this host. A folder that is filled already stays as it is.
 */
export async function injectExecutor(folder: string): Promise<void> {
  if (await isThere(join(folder, INJECTED_MARK))) return;
  const executor = findExecutor();
  const ready = dirname(await realpath(executor.folder));
  if (await isThere(join(ready, INJECTED_MARK))) return copy(ready, folder);
  const cache = await mkdtemp(join(tmpdir(), 'tendon-injected-'));
  try {
    await copy(await injectedFolder(executor, cache), folder);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}

function copy(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, verbatimSymlinks: true });
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
