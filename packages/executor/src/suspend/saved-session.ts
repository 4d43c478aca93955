import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** What a sandbox that went to sleep leaves to the one that wakes, in its private state. Written by the inside: nothing is believed of it. */
export interface SavedSession {
  readonly workingDir: string;
  /** Read by the next shell: variables, functions, aliases, options. */
  readonly shell: string;
  /** Of plugins to themselves, by their names. */
  readonly notes: Readonly<Record<string, unknown>>;
}

const MAX_BYTES = 8 * 1024 * 1024;

export function sleepFolder(stateDir: string): string {
  return join(stateDir, 'asleep');
}

/** It is there whole or not at all. */
export async function saveSession(stateDir: string, session: SavedSession): Promise<void> {
  const path = pathIn(stateDir);
  const text = JSON.stringify(session);
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Error('the variables of the shell take too much room');
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(`${path}.new`, path);
}

export function loadSession(stateDir: string): SavedSession | undefined {
  const path = pathIn(stateDir);
  try {
    if (!existsSync(path) || statSync(path).size > MAX_BYTES) return undefined;
    const { workingDir, shell, notes } = JSON.parse(readFileSync(path, 'utf8')) as Partial<SavedSession>;
    if (typeof workingDir !== 'string' || typeof shell !== 'string') return undefined;
    return { workingDir, shell, notes: typeof notes === 'object' && notes !== null ? notes : {} };
  } catch {
    return undefined; // not a session: the shell starts afresh
  }
}

/** Once it has been taken up, it is of the past. */
export function forgetSession(stateDir: string): void {
  rmSync(pathIn(stateDir), { force: true });
  rmSync(sleepFolder(stateDir), { recursive: true, force: true });
}

function pathIn(stateDir: string): string {
  return join(stateDir, 'session.json');
}
