import type { WorkspaceFiles } from '@tendon/core';
import ignore from 'ignore';

/** Never listed; folders end in `/`. */
export const HIDDEN_ENTRIES: ReadonlySet<string> = new Set([
  '.git/',
  '.DS_Store',
  'node_modules/',
  '__pycache__/',
  'lost+found/',
  '.vscode/',
]);

const MAX_GITIGNORE_BYTES = 256 * 1024;
const MAX_RULES = 2_000;

/** Whether an entry (relative to the workspace, folders end in `/`) is shown: not one of the hidden, and not matched by the `.gitignore` of the root. */
export async function shownEntries(files: WorkspaceFiles, signal: AbortSignal): Promise<(path: string) => boolean> {
  const bytes = await files.read('.gitignore', { signal, maxBytes: MAX_GITIGNORE_BYTES }).catch(() => undefined);
  const rules = ignore().add(bytes ? rulesIn(Buffer.from(bytes).toString('utf8')) : []);
  return (path) => {
    const parts = path.split('/');
    const isFolder = path.endsWith('/');
    const names = parts.map((part, index) => (index < parts.length - 1 || isFolder ? `${part}/` : part));
    if (names.some((name) => HIDDEN_ENTRIES.has(name))) return false;
    return !ignore.isPathValid(path) || !rules.ignores(path);
  };
}

/** The file is the agent's: rules that a regular expression would chew on for ever are left out. */
function rulesIn(text: string): string[] {
  return text
    .split('\n')
    .slice(0, MAX_RULES)
    .filter((line) => line.length <= 300 && (line.match(/\*+/g)?.length ?? 0) <= 3);
}
