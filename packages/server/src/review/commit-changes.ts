import { shellQuote } from '@tendon/protocol/executor-api';
import type { ChangedFile } from '@tendon/protocol';
import { GIT_PRELUDE } from '../git/workspace-changes.ts';
import { nulFields } from '../sandboxes/nul-fields.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';

export interface ChangeList {
  /** All of them; a bounded number is listed. */
  readonly count: number;
  readonly files: readonly ChangedFile[];
}

const MAX_FILES = 1000;
/** Of a change git prints four at most. */
const MAX_FIELDS = 60_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Defines `review_base`: prints where the work left the branch, or with none what was last published or committed. */
export function baseScript(branch: string | undefined): string {
  if (branch === undefined) return `${GIT_PRELUDE}\nreview_base() { base_ref; }`;
  return `${GIT_PRELUDE}
name=${shellQuote(branch)}
review_base() {
  for ref in "refs/heads/$name" "refs/remotes/origin/$name"; do
    g rev-parse --verify --quiet "$ref^{commit}" >&3 || continue
    g merge-base "$ref" HEAD || g rev-parse "$ref^{commit}"
    return
  done
  return 1
}`;
}

/**
 * Of the workspace itself and the repositories right inside it: its folder, then what git prints of changed files (raw and counted),
 * nothing, new files, nothing. New files are counted by an index of their own, which is gone afterwards.
 */
function listScript(branch: string | undefined): string {
  return `${baseScript(branch)}
index=$(mktemp) || exit 1
trap 'rm -f -- "$index"' EXIT
for dir in . */; do
  cd -- "$root" || exit 1
  if [ "$dir" = . ]; then g rev-parse --is-inside-work-tree >&3 || continue; else [ -e "$dir.git" ] || continue; fi
  cd -- "$dir" || continue
  base=$(review_base) || continue
  cp -- "$(g rev-parse --git-path index)" "$index" || : >"$index"
  [ -s "$index" ] || rm -f -- "$index"
  g ls-files --others --exclude-standard -z | grep -zv '/$' |
    GIT_LITERAL_PATHSPECS=1 GIT_INDEX_FILE=$index g add --intent-to-add --pathspec-from-file=- --pathspec-file-nul
  printf '%s\\0' "$dir"
  GIT_INDEX_FILE=$index g diff --raw --numstat --no-renames --no-ext-diff --relative -z "$base" -- .
  printf '\\0'
  g ls-files --others --exclude-standard -z
  printf '\\0'
done
exit 0`;
}

/** What differs from a commit, in every repository of the workspace that has it. Rejects with a user-facing error. */
export async function changesSinceCommit({ runtime, root }: Workspace, branch: string | undefined, now: Date): Promise<ChangeList> {
  const options = { cwd: root, timeoutSeconds: 20, maxBytes: MAX_BYTES, now };
  const { text, exitCode } = await runSandboxCommand(runtime, listScript(branch), options);
  if (exitCode === 127) throw new Error('there is no git in the sandbox');
  if (exitCode !== 0) throw new Error('git did not answer in time');
  return listedChanges(text);
}

/**
 * Total: whatever was printed.
 * @internal
 */
export function listedChanges(text: string): ChangeList {
  const fields = nulFields(text, MAX_FIELDS).fields[Symbol.iterator]();
  const next = (): string => fields.next().value ?? '';
  const files = new Map<string, ChangedFile>();
  const note = (folder: string, path: string, change: Partial<ChangedFile>): void => {
    if (path === '') return; // cut off
    const full = folder === '.' ? path : folder + path;
    const known = files.get(full) ?? { path: full, status: 'M' as const, added: null, removed: null };
    files.set(full, { ...known, ...change });
  };
  for (let folder = next(); folder !== ''; folder = next()) {
    for (let field = next(); field !== ''; field = next()) {
      const counted = /^(\d{1,9}|-)\t(\d{1,9}|-)\t([^]*)$/.exec(field);
      if (counted) note(folder, counted[3]!, { added: numberIn(counted[1]!), removed: numberIn(counted[2]!) });
      else if (field.startsWith(':')) note(folder, next(), { status: statusOf(field.at(-1)!) });
    }
    for (let path = next(); path !== ''; path = next()) if (!path.endsWith('/')) note(folder, path, { status: 'A' });
  }
  const sorted = [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { count: sorted.length, files: sorted.slice(0, MAX_FILES) };
}

function statusOf(letter: string): ChangedFile['status'] {
  return letter === 'A' || letter === 'D' || letter === 'U' ? letter : 'M';
}

function numberIn(text: string): number | null {
  return text === '-' ? null : Number(text);
}
