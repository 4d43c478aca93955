import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Microagent } from '@tendon/core/knowledge';

const MAX_FILES = 200;
const MAX_BYTES = 256 * 1024;

/** Those of the server's own user: `<home>/microagents/*.md`, by name. A file that cannot be read or is too large is left out, and reported. */
export async function userMicroagents(home: string, onProblem: (problem: string) => void): Promise<Microagent[]> {
  const folder = join(home, 'microagents');
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.flatMap((entry) =>
    entry.isFile() && entry.name.endsWith('.md') && entry.name !== 'README.md' ? [entry.name] : [],
  );
  if (names.length === 0) return [];
  const { parseMicroagent } = await import('@tendon/core/knowledge');
  const found: Microagent[] = [];
  for (const name of names.toSorted().slice(0, MAX_FILES)) {
    const path = join(folder, name);
    try {
      const { microagent, problem } = parseMicroagent(name.slice(0, -'.md'.length), await readSmall(path));
      if (problem) onProblem(`${path}: ${problem}`);
      found.push(microagent);
    } catch (error) {
      onProblem(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

async function readSmall(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await file.read(buffer, 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
