import type { Workspace } from '../http/workspace-of.ts';
import { readMicroagent, type Microagent } from './read-microagent.ts';

const FOLDER = '.openhands/microagents';
/** Files of other tools that say the same kind of thing. */
const ALIKE: Readonly<Record<string, string>> = { '.cursorrules': 'cursorrules', 'AGENTS.md': 'agents', 'agents.md': 'agents' };
const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_FOLDERS = 50;
const TIMEOUT_MS = 15_000;

/** Of the workspace itself and of the repositories right inside it, sorted by name. What can not be read is not there. */
export async function workspaceMicroagents({ runtime }: Workspace): Promise<Microagent[]> {
  const { files } = runtime;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const list = (path: string) => files.list(path, { signal }).catch(() => []);
  const found = new Map<string, Microagent>();

  async function take(path: string, name: string): Promise<void> {
    const bytes = await files.read(path, { signal, maxBytes: MAX_BYTES }).catch(() => undefined);
    if (!bytes || found.size >= MAX_FILES) return;
    const microagent = readMicroagent(name, Buffer.from(bytes).toString('utf8'));
    if (!found.has(microagent.name)) found.set(microagent.name, microagent);
  }
  async function walk(folder: string, prefix: string, depth: number): Promise<void> {
    for (const entry of await list(folder)) {
      const name = prefix + entry;
      if (entry.endsWith('/')) {
        if (depth < 4) await walk(`${folder}/${entry.slice(0, -1)}`, name, depth + 1);
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
