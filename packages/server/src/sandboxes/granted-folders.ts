/**
 * Folders that the owner of a home gave to agents, beside those of the configuration, by calling the command line in them. Who can write
 * into the home is its owner, so no client of the server can add one.
 */
import { appendFile, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemFolder } from './workspace-roots.ts';

/** Adds the real path of a folder. Rejects where there is none, and for a folder of the system. */
export async function grantFolder(home: string, folder: string): Promise<void> {
  const path = await realpath(folder);
  if (isSystemFolder(path)) throw new Error(`${path} is a folder of the system, and never a workspace`);
  if ((await grantedFolders(home)).includes(path)) return;
  // A line is appended whole, so two that add one at the same time lose none.
  await appendFile(fileIn(home), `${JSON.stringify(path)}\n`, { mode: 0o600 });
}

/** Real paths, as they were when they were given: links that came later are not followed. */
export async function grantedFolders(home: string): Promise<readonly string[]> {
  const text = await readFile(fileIn(home), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => readLine(line) ?? []);
}

function readLine(line: string): string | undefined {
  try {
    const path: unknown = JSON.parse(line);
    return typeof path === 'string' && path.startsWith('/') && !isSystemFolder(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function fileIn(home: string): string {
  return join(home, 'folders.jsonl');
}
