import { HIDDEN_ENTRIES } from './shown-entries.ts';
import { shellQuote } from '@tendon/protocol/executor-api';
import { nulFields } from '../sandboxes/nul-fields.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';

export interface WorkspaceEntry {
  /** Relative to the folder that was asked for; folders end in `/`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'other';
  /** Bytes. */
  readonly size: number;
}

const TYPES: Readonly<Record<string, WorkspaceEntry['type']>> = { f: 'file', d: 'directory', l: 'link' };
/** Of names; long ones leave space for fewer. */
const BYTES_PER_ENTRY = 256;
const TIMEOUT_SECONDS = 20;

interface EntriesOptions {
  readonly depth?: number;
  readonly withHidden: boolean;
  /** What there is beyond is cut: whatever the sandbox holds or prints, so many are taken apart in this process. */
  readonly maxEntries: number;
  readonly now: Date;
}

/** Everything below `path`, links as links. Looked up by the sandbox. Rejects with a user-facing error, e.g. `ENOENT…`. */
export async function workspaceEntries(
  { runtime, root }: Workspace,
  path: string,
  options: EntriesOptions,
): Promise<{ readonly entries: readonly WorkspaceEntry[]; readonly isCut: boolean }> {
  const depth = options.depth === undefined ? '' : `-maxdepth ${options.depth}`;
  const names = [...HIDDEN_ENTRIES].map((entry) => `-name ${shellQuote(entry.replace(/\/$/, ''))}`);
  const prune = options.withHidden ? '' : `\\( ${names.join(' -o ')} \\) -prune -o`;
  const maxBytes = options.maxEntries * BYTES_PER_ENTRY;
  const script = `exec 2>/dev/null
cd -- ${shellQuote(path)} || exit 3
command -v find >/dev/null || exit 127
find . -mindepth 1 ${depth} ${prune} -printf '%y %s %P\\0' | head -c ${maxBytes + 1}`;
  const found = await runSandboxCommand(runtime, script, {
    cwd: root,
    timeoutSeconds: TIMEOUT_SECONDS,
    maxBytes,
    now: options.now,
  });
  if (found.exitCode === 3) throw new Error(`ENOENT: there is no folder ${path}`);
  if (found.exitCode === 127) throw new Error('there is no find in the sandbox');
  const { fields, isCut } = nulFields(found.text, options.maxEntries);
  return { entries: fields.flatMap(entryOf), isCut: isCut || found.isCut || found.exitCode === -1 };
}

function entryOf(line: string): WorkspaceEntry[] {
  const match = /^(\S) (\d+) (.+)$/s.exec(line);
  if (!match) return [];
  const type = TYPES[match[1]!] ?? 'other';
  return [{ path: type === 'directory' ? `${match[3]!}/` : match[3]!, type, size: Number(match[2]) }];
}

/** A path as clients of all releases name it, as the sandbox takes it: `/workspace/a` and `a` are the same, so are `/workspace`, `.` and nothing. */
export function workspacePath(path: string): string {
  const inner = /^\/workspace(\/|$)/.test(path) ? path.slice('/workspace'.length).replace(/^\/+/, '') : path;
  return inner || '.';
}
