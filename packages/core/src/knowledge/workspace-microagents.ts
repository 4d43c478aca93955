import type { WorkspaceFiles } from '../sandbox/runtime.ts';
import type { Microagent } from './parse-microagent.ts';

const FOLDER = '.openhands/microagents';
/** Files of other tools that say the same kind of thing. */
const ALIKE: Readonly<Record<string, string>> = {
  '.openhands_instructions': 'repo_legacy',
  '.cursorrules': 'cursorrules',
  'AGENTS.md': 'agents',
  'agents.md': 'agents',
};
const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 4;
const MAX_FOLDERS = 50;
const TIMEOUT_MS = 15_000;

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Called with each file that is not what it should be. */
  readonly onProblem?: (problem: string) => void;
}

/**
 * Of the workspace itself and of the repositories right inside it, sorted by name; the first of a name counts. What cannot be read
 * is not there. Everything is read inside the sandbox, so a link leads nowhere the agent could not go itself.
 */
export async function workspaceMicroagents(files: WorkspaceFiles, options: ReadOptions = {}): Promise<Microagent[]> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const found = new Map<string, Microagent>();
  let [filesLeft, bytesLeft, foldersLeft] = [MAX_FILES, MAX_TOTAL_BYTES, MAX_FOLDERS * 4];
  async function list(path: string): Promise<readonly string[]> {
    return foldersLeft-- > 0 ? files.list(path, { signal }).catch(() => []) : [];
  }

  async function take(path: string, name: string): Promise<void> {
    if (filesLeft-- <= 0 || bytesLeft <= 0) return;
    const bytes = await files.read(path, { signal, maxBytes: MAX_BYTES }).catch(() => undefined);
    if (!bytes) return;
    bytesLeft -= bytes.length;
    // Workspaces without microagents need no parser of YAML.
    const { parseMicroagent } = await import('./parse-microagent.ts');
    const { microagent, problem } = parseMicroagent(name, new TextDecoder().decode(bytes));
    if (problem) options.onProblem?.(`${path}: ${problem}`);
    if (!found.has(microagent.name)) found.set(microagent.name, microagent);
  }
  async function walk(folder: string, prefix: string, depth: number): Promise<void> {
    for (const entry of await list(folder)) {
      const name = prefix + entry;
      if (entry.endsWith('/')) {
        if (depth < MAX_DEPTH) await walk(`${folder}/${entry.slice(0, -1)}`, name, depth + 1);
      } else if (entry.endsWith('.md') && entry !== 'README.md') await take(`${folder}/${entry}`, name.slice(0, -'.md'.length));
    }
  }

  const top = await list('.');
  const repositories = top.filter((entry) => entry.endsWith('/') && !entry.startsWith('.') && entry !== 'node_modules/');
  for (const place of ['', ...repositories.slice(0, MAX_FOLDERS)]) {
    const entries = place === '' ? top : await list(place);
    if (entries.includes('.openhands/')) await walk(`${place}${FOLDER}`, '', 0);
    for (const entry of entries) if (Object.hasOwn(ALIKE, entry)) await take(place + entry, ALIKE[entry]!);
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
