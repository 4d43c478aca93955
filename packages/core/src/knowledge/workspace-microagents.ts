import type { WorkspaceFiles } from '../sandbox/runtime.ts';
import { byName, type Microagent } from './microagent.ts';

const FOLDER = '.openhands/microagents';
/** Where other agents look for skills, and their own folder: a `SKILL.md` in each of their folders. */
const SKILLS = ['.agents/skills', '.openhands/skills', '.claude/skills'];
/** Files of other tools that say the same kind of thing. */
const ALIKE: Readonly<Record<string, string>> = {
  '.openhands_instructions': 'repo_legacy',
  '.cursorrules': 'cursorrules',
  'AGENTS.md': 'agents',
  'agents.md': 'agents',
  'CLAUDE.md': 'claude',
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
  /** Instructions deeper in the workspace, as paths in it: each counts for the files beside and below it. */
  readonly nested?: readonly string[];
}

/**
 * Of the workspace itself and of the repositories right inside it, sorted by name; of a name the first or the one with the higher version
 * counts. What cannot be read is not there. Everything is read inside the sandbox, so a link leads nowhere the agent could not go itself.
 */
export async function workspaceMicroagents(files: WorkspaceFiles, options: ReadOptions = {}): Promise<Microagent[]> {
  const reading = new Reading(files, options);
  const top = await reading.list('.');
  const repositories = top.filter((entry) => entry.endsWith('/') && !entry.startsWith('.') && entry !== 'node_modules/');
  for (const place of ['', ...repositories.slice(0, MAX_FOLDERS)]) {
    const entries = place === '' ? top : await reading.list(place);
    if (entries.includes('.openhands/')) await reading.walk(place, { folder: `${place}${FOLDER}`, prefix: '', depth: 0 });
    for (const entry of entries) if (Object.hasOwn(ALIKE, entry)) await reading.take(place + entry, { name: ALIKE[entry]!, folder: place });
    for (const folder of SKILLS) if (entries.includes(`${folder.split('/')[0]}/`)) await reading.skillsIn(`${place}${folder}`, place);
  }
  for (const path of options.nested ?? []) await reading.takeNested(path);
  return byName(reading.found).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** One reading of a workspace, which owns what is left of its bounds. */
class Reading {
  readonly found: Microagent[] = [];
  readonly #files: WorkspaceFiles;
  readonly #signal: AbortSignal;
  readonly #onProblem: ReadOptions['onProblem'];
  #filesLeft = MAX_FILES;
  #bytesLeft = MAX_TOTAL_BYTES;
  #foldersLeft = MAX_FOLDERS * 4;

  constructor(files: WorkspaceFiles, { signal, onProblem }: ReadOptions) {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    this.#files = files;
    this.#signal = signal ? AbortSignal.any([signal, timeout]) : timeout;
    this.#onProblem = onProblem;
  }

  async list(path: string): Promise<readonly string[]> {
    return this.#foldersLeft-- > 0 ? this.#files.list(path, { signal: this.#signal }).catch(() => []) : [];
  }

  async walk(place: string, { folder, prefix, depth }: { readonly folder: string; readonly prefix: string; readonly depth: number }) {
    for (const entry of await this.list(folder)) {
      const name = prefix + entry;
      if (entry.endsWith('/')) {
        if (depth < MAX_DEPTH) await this.walk(place, { folder: `${folder}/${entry.slice(0, -1)}`, prefix: name, depth: depth + 1 });
      } else if (entry.endsWith('.md') && entry !== 'README.md') {
        await this.take(`${folder}/${entry}`, { name: name.slice(0, -'.md'.length), folder: place });
      }
    }
  }

  /** Of the instructions of two places neither hides the other: the second is named after its place too. */
  async take(path: string, { name, folder }: { readonly name: string; readonly folder: string }): Promise<void> {
    const parsed = await this.#parse(path, name);
    if (!parsed) return;
    const { microagent } = parsed;
    const isTaken = microagent.type === 'repo' && this.found.some((other) => other.name === microagent.name && other.folder !== folder);
    this.found.push({ ...microagent, ...(isTaken && { name: `${folder}${microagent.name}` }), folder });
  }

  /** Brought by the path of its folder. */
  async takeNested(path: string): Promise<void> {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    if (folder === '' || this.found.some((other) => other.folder === folder && other.skill === undefined)) return;
    const parsed = await this.#parse(path, path);
    const triggers = [folder.slice(0, -1)];
    if (parsed) this.found.push({ ...parsed.microagent, name: path, type: 'knowledge', triggers, folder });
  }

  async skillsIn(folder: string, place: string): Promise<void> {
    for (const entry of await this.list(folder)) {
      // Before there were folders, a skill was a file like a microagent.
      if (entry.endsWith('.md') && entry !== 'README.md')
        await this.take(`${folder}/${entry}`, { name: entry.slice(0, -3), folder: place });
      if (!entry.endsWith('/')) continue;
      const skill = `${folder}/${entry}`;
      const parsed = await this.#parse(`${skill}SKILL.md`, entry.slice(0, -1));
      const { toSkill } = await import('./to-skill.ts');
      if (parsed) this.found.push({ ...toSkill(parsed, { folder: skill.slice(0, -1) }), folder: place });
    }
  }

  async #parse(path: string, name: string) {
    if (this.#filesLeft-- <= 0 || this.#bytesLeft <= 0) return undefined;
    const bytes = await this.#files.read(path, { signal: this.#signal, maxBytes: MAX_BYTES }).catch(() => undefined);
    if (!bytes) return undefined;
    this.#bytesLeft -= bytes.length;
    // Workspaces without microagents need no parser of YAML.
    const { parseMicroagent } = await import('./parse-microagent.ts');
    const parsed = parseMicroagent(name, new TextDecoder().decode(bytes));
    if (parsed.problem) this.#onProblem?.(`${path}: ${parsed.problem}`);
    return parsed;
  }
}
