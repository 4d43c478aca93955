/** What the user writes into the home beside the store: copied as it is. */
import { copyFile, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Read by agents. */
const TEXTS = ['skills', 'notes', 'agents', 'microagents'] as const;
/** Executed by the server's user. */
const PROGRAMS = ['hooks.json', 'hooks', 'tools', 'plugins', 'plugins.json'] as const;

/** Packages that are installed beside tools come back with their package manager. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.git']);
const MAX_FILES = 20_000;

/** Whether a manifest may name it: below a part, and nowhere else. */
export function isUserFile(name: string): boolean {
  const [part, ...rest] = name.split('/');
  const isSafe = rest.every((segment) => !['', '.', '..'].includes(segment) && !/[\\\0]/.test(segment));
  return isSafe && partNames(true).includes(part!) && part!.endsWith('.json') === (rest.length === 0);
}

function partNames(withPrograms: boolean): readonly string[] {
  return withPrograms ? [...TEXTS, ...PROGRAMS] : TEXTS;
}

/** The parts that files of a backup belong to. */
export function userParts(files: readonly string[], { withPrograms }: { readonly withPrograms: boolean }): readonly string[] {
  const named = new Set(files.map(partOf));
  return partNames(withPrograms).filter((part) => named.has(part));
}

export function partOf(file: string): string {
  return file.split('/', 1)[0]!;
}

/** A link in a part is followed, a link below it is not. */
export async function copyUserFiles(home: string, to: string, onProblem: (sentence: string) => void): Promise<void> {
  const found: string[] = [];
  const look = async (name: string, depth: number): Promise<void> => {
    if (found.length > MAX_FILES) return;
    const path = join(home, name);
    const link = await lstat(path).catch(() => undefined);
    const entry = link?.isSymbolicLink() && depth < 2 ? await stat(path).catch(() => link) : link;
    if (entry?.isDirectory()) {
      const names = (await namesIn(path, onProblem)).filter((each) => !LEFT_OUT.has(each)).toSorted();
      for (const each of names) await look(`${name}/${each}`, depth + 1);
    } else if (entry && !entry.isFile()) onProblem(`${path} is no file and no folder, so it is not in the backup.`);
    // A manifest that names it would be refused, with all that is in the backup.
    else if (entry && !isUserFile(name)) onProblem(`${path} is not in the backup: it is not what is expected there, or has such a name.`);
    else if (entry) found.push(name);
    else if (depth > 0) onProblem(`${path} is not in the backup: it cannot be found by that name.`);
  };
  for (const part of partNames(true)) await look(part, 0);
  if (found.length > MAX_FILES) onProblem(`Of the user's files only the first ${MAX_FILES} are in the backup.`);
  for (const name of found.slice(0, MAX_FILES)) {
    await mkdir(join(to, name, '..'), { recursive: true, mode: 0o700 });
    await copyFile(join(home, name), join(to, name)).catch(({ message }: Error) => onProblem(`${name} is not in the backup: ${message}.`));
  }
}

async function namesIn(folder: string, onProblem: (sentence: string) => void): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    onProblem(`What is in ${folder} is not in the backup: ${(cause as Error).message}.`);
    return [];
  }
}
