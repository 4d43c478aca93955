import { HIDDEN_ENTRIES } from './shown-entries.ts';
import { runSandboxCommand, shellQuoted } from './sandbox-command.ts';
import type { Workspace } from '../http/workspace-of.ts';

export interface WorkspaceEntry {
  /** Relative to the folder that was asked for; folders end in `/`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'other';
  /** Bytes. */
  readonly size: number;
}

const TYPES: Readonly<Record<string, WorkspaceEntry['type']>> = { f: 'file', d: 'directory', l: 'link' };
const MAX_BYTES = 12 * 1024 * 1024;
const TIMEOUT_SECONDS = 20;

/** Everything below `path`, links as links. Looked up by the sandbox. Rejects with an Error that can be shown, e.g. `ENOENT…`. */
export async function workspaceEntries(
  { runtime, root }: Workspace,
  path: string,
  options: { readonly depth?: number; readonly withHidden: boolean; readonly now: Date },
): Promise<{ readonly entries: readonly WorkspaceEntry[]; readonly isCut: boolean }> {
  const depth = options.depth === undefined ? '' : `-maxdepth ${options.depth}`;
  const names = [...HIDDEN_ENTRIES].map((entry) => `-name ${shellQuoted(entry.replace(/\/$/, ''))}`);
  const prune = options.withHidden ? '' : `\\( ${names.join(' -o ')} \\) -prune -o`;
  const script = `exec 2>/dev/null
cd -- ${shellQuoted(path)} || exit 3
find . -mindepth 1 ${depth} ${prune} -printf '%y %s %P\\0'`;
  const found = await runSandboxCommand(runtime, script, {
    cwd: root,
    timeoutSeconds: TIMEOUT_SECONDS,
    maxBytes: MAX_BYTES,
    now: options.now,
  });
  if (found.exitCode === 3) throw new Error(`ENOENT: there is no folder ${path}`);
  if (found.exitCode === 127) throw new Error('there is no find in the sandbox');
  // The last piece is empty, or what the cut left of an entry.
  const entries = found.text.split('\0').slice(0, -1).flatMap(entryOf);
  return { entries, isCut: found.isCut || found.exitCode === -1 };
}

function entryOf(line: string): WorkspaceEntry[] {
  const match = /^(\S) (\d+) (.+)$/s.exec(line);
  if (!match) return [];
  const type = TYPES[match[1]!] ?? 'other';
  return [{ path: type === 'directory' ? `${match[3]!}/` : match[3]!, type, size: Number(match[2]) }];
}
