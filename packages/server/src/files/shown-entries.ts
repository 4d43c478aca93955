import type { Workspace } from '../sandboxes/workspace-of.ts';
import { shellQuote } from '@tendon/protocol/executor-api';
import { nulFields } from '../sandboxes/nul-fields.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';

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
const MAX_BYTES = 2 * 1024 * 1024;
/** More than a listing has; the others are shown. */
const MAX_IGNORED = 50_000;
const TIMEOUT_SECONDS = 5;

interface ShownOptions {
  /** The depth of folders below the listed one. */
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly now: Date;
}

/**
 * Whether an entry of `folder` or below it (relative to the workspace, folders end in `/`) is shown: not a hidden one, and not one
 * that git ignores where the root has a `.gitignore`. The rules are the agent's and may be made to be slow, so the sandbox's own git
 * matches them, for 5 s: entries that it has not reported by then are shown, as all are where there is no git.
 */
export async function shownEntries(workspace: Workspace, folder: string, options: ShownOptions): Promise<(path: string) => boolean> {
  const ignored = await ignoredEntries(workspace, folder, options).catch(() => new Set<string>());
  return (path) => {
    const isFolder = path.endsWith('/');
    const parts = (isFolder ? path.slice(0, -1) : path).split('/');
    const isHidden = parts.some((part, index) => HIDDEN_ENTRIES.has(index < parts.length - 1 || isFolder ? `${part}/` : part));
    return !isHidden && !isIgnored(parts, ignored);
  };
}

/** It, or a folder that it lies in: what git names is cut somewhere. */
function isIgnored(parts: readonly string[], ignored: ReadonlySet<string>): boolean {
  return ignored.size > 0 && parts.some((_part, index) => ignored.has(parts.slice(0, index + 1).join('/')));
}

async function ignoredEntries({ runtime, root }: Workspace, folder: string, { depth, signal, now }: ShownOptions): Promise<Set<string>> {
  const rules = await runtime.files.read('.gitignore', { signal, maxBytes: MAX_GITIGNORE_BYTES }).catch(() => undefined);
  // Git has rules for what is below the root, and none for other places.
  if (!rules?.length || /^\/|(^|\/)\.\.(\/|$)/.test(folder)) return new Set();
  const inner = folder === '.' ? '.' : `./${folder}`;
  const found = await runSandboxCommand(runtime, script(inner, depth), {
    cwd: root,
    timeoutSeconds: TIMEOUT_SECONDS,
    maxBytes: MAX_BYTES,
    now,
  });
  return new Set(nulFields(found.text, MAX_IGNORED).fields.map((path) => path.replace(/^\.\//, '').replaceAll(/\/{2,}/g, '/')));
}

/** Git with a repository of its own that holds nothing: the workspace may be none, and what it says in `.git/config` does not count. */
function script(folder: string, depth: number): string {
  return `exec 2>/dev/null
command -v git >/dev/null || exit 0
empty=$(mktemp -d) || exit 0
trap 'rm -rf -- "$empty"' EXIT
mkdir "$empty/objects" "$empty/refs" && printf 'ref: refs/heads/none\\n' >"$empty/HEAD" || exit 0
find ${shellQuote(folder)} -mindepth 1 -maxdepth ${depth} -print0 |
  git --git-dir="$empty" --work-tree=. -c core.excludesFile=/dev/null check-ignore --no-index --stdin -z | head -c ${MAX_BYTES}`;
}
