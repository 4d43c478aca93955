import type { GitChanges } from '@tendon/protocol';
import { nulFields } from '../sandboxes/nul-fields.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';

/**
 * Before every script that asks git: nothing is written, nobody is asked for a password, errors are not part of the output, and
 * the folder may belong to another user. `base_ref` prints what changes are counted from: the published branch, else where this
 * one left the published default, else the last commit, else nothing at all.
 */
export const GIT_PRELUDE = `exec 2>/dev/null 3>/dev/null
command -v git >&3 || exit 127
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0
root=$PWD
g() { git --no-pager -c safe.directory='*' -c core.quotePath=false -c core.fsmonitor=false "$@"; }
base_ref() {
  g rev-parse --verify --quiet "refs/remotes/origin/$(g symbolic-ref --quiet --short HEAD)^{commit}" ||
    g merge-base HEAD refs/remotes/origin/HEAD ||
    g rev-parse --verify --quiet 'HEAD^{commit}' ||
    g hash-object -t tree /dev/null
}`;

type Change = GitChanges[number];

const MAX_CHANGES = 10_000;
/** A change is two of them at most. A repository, or a program of the agent's in git's place, may list millions. */
const MAX_FIELDS = 50_000;

/** Of the workspace itself and the repositories right inside it: its folder, then pairs of status and path, nothing, new paths, nothing. */
const SCRIPT = `${GIT_PRELUDE}
for dir in . */; do
  cd -- "$root" || exit 1
  if [ "$dir" = . ]; then g rev-parse --is-inside-work-tree >&3 || continue; else [ -e "$dir.git" ] || continue; fi
  cd -- "$dir" || continue
  base=$(base_ref) || continue
  printf '%s\\0' "$dir"
  g diff --name-status --no-renames --no-ext-diff --relative -z "$base" -- .
  printf '\\0'
  g ls-files --others --exclude-standard -z
  printf '\\0'
done
exit 0`;

/** What differs from what was last published, or committed where nothing was; sorted by path. Empty without a repository. */
export async function workspaceChanges({ runtime, root }: Workspace, now: Date): Promise<GitChanges> {
  const { text, exitCode } = await runSandboxCommand(runtime, SCRIPT, { cwd: root, timeoutSeconds: 20, maxBytes: 8 * 1024 * 1024, now });
  if (exitCode === 127) throw new Error('there is no git in the sandbox');
  if (exitCode !== 0) throw new Error('git did not answer in time');
  return changesIn(text);
}

/**
 * Total: whatever was printed.
 * @internal
 */
export function changesIn(text: string): GitChanges {
  const fields = nulFields(text, MAX_FIELDS).fields[Symbol.iterator]();
  const next = (): string => fields.next().value ?? '';
  const changes = new Map<string, Change['status']>();
  const note = (folder: string, path: string, status: Change['status']): void => {
    if (path === '') return; // cut off
    const full = folder === '.' ? path : folder + path;
    if (changes.size < MAX_CHANGES && changes.get(full) !== 'U') changes.set(full, status);
  };
  for (let folder = next(); folder !== ''; folder = next()) {
    for (let status = next(); status !== ''; status = next()) note(folder, next(), statusOf(status));
    for (let path = next(); path !== ''; path = next()) if (!path.endsWith('/')) note(folder, path, 'A');
  }
  return [...changes].map(([path, status]) => ({ status, path })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function statusOf(letter: string): Change['status'] {
  return letter === 'A' || letter === 'D' || letter === 'U' ? letter : 'M';
}
