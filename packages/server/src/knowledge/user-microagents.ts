import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Microagent } from '@tendon/core/knowledge';
import { readSmall } from './read-small.ts';

const MAX_FILES = 200;

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
      const { microagent, problem } = parseMicroagent(name.slice(0, -'.md'.length), (await readSmall(path)).toString('utf8'));
      if (problem) onProblem(`${path}: ${problem}`);
      found.push(microagent);
    } catch (error) {
      onProblem(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}
