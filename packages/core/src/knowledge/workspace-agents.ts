import type { AgentFile } from './agent-file.ts';
import type { WorkspaceFiles } from '../sandbox/runtime.ts';

const AGENTS_FOLDER = '.agents/agents';
const MAX_BYTES = 64 * 1024;
const MAX_FILES = 50;
const TIMEOUT_MS = 15_000;

/**
 * Of the workspace and of the repository in `folder`, whose come first. They come with the workspace, so none names a model. Everything is
 * read inside the sandbox, so a link leads nowhere the agent could not go itself; what cannot be read is not there.
 */
export async function workspaceAgents(
  files: WorkspaceFiles,
  { folder, onProblem }: { readonly folder?: string | undefined; readonly onProblem: (problem: string) => void },
): Promise<AgentFile[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const found = new Map<string, AgentFile>();
  for (const place of new Set([`${folder ?? ''}${AGENTS_FOLDER}`, AGENTS_FOLDER])) {
    const entries = await files.list(place, { signal }).catch(() => []);
    const names = entries.filter((entry) => entry.endsWith('.md') && entry !== 'README.md');
    for (const name of names.toSorted().slice(0, MAX_FILES)) {
      const path = `${place}/${name}`;
      const bytes = await files.read(path, { signal, maxBytes: MAX_BYTES }).catch(() => undefined);
      if (!bytes) continue;
      const { parseAgentFile } = await import('./parse-agent-file.ts');
      const parsed = parseAgentFile(name.slice(0, -'.md'.length), new TextDecoder().decode(bytes));
      if ('problem' in parsed) onProblem(`${path}: ${parsed.problem}`);
      else if (!found.has(parsed.file.name)) found.set(parsed.file.name, withoutModel(parsed.file));
    }
  }
  return [...found.values()];
}

function withoutModel({ model: _model, ...file }: AgentFile): AgentFile {
  return file;
}
