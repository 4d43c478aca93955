import type { GitDiff } from '@tendon/protocol';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';
import { GIT_PRELUDE } from './git-prelude.ts';

export type DiffResult =
  | { readonly state: 'found'; readonly diff: GitDiff }
  | { readonly state: 'no-repository' | 'no-file' | 'binary' | 'too-large' };

const MAX_BYTES = 5 * 1024 * 1024;

/** The file as it is and as it was where changes are counted from. `path` is relative to the workspace. */
export async function workspaceDiff(
  { runtime, root }: Workspace,
  path: string,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
): Promise<DiffResult> {
  const asked = { cwd: root, timeoutSeconds: 20, maxBytes: MAX_BYTES + 1, now };
  const old = await runSandboxCommand(runtime, scriptFor(path), asked);
  if (old.exitCode === 127) throw new Error('there is no git in the sandbox');
  if (old.exitCode === 3) return { state: 'no-repository' };
  if (old.exitCode !== 0 && old.exitCode !== 4) throw new Error('git did not answer in time');
  const original = old.exitCode === 0 ? old.text : undefined;
  const bytes = await runtime.files.read(path, { signal, maxBytes: MAX_BYTES }).catch((cause: Error) => {
    if (!/^(ENOENT|ENOTDIR)\b/.test(cause.message)) throw cause;
    return undefined;
  });
  if (original === undefined && bytes === undefined) return { state: 'no-file' };
  if (old.isCut) return { state: 'too-large' };
  const modified = bytes ? Buffer.from(bytes).toString('utf8') : '';
  if (modified.includes('\0') || original?.includes('\0')) return { state: 'binary' };
  return { state: 'found', diff: { modified, original: original ?? '' } };
}

/** From the nearest folder that is still there: a deleted file's may be gone. */
function scriptFor(path: string): string {
  return `${GIT_PRELUDE}
path=${shellQuote(path)}
dir=$(dirname -- "$path"; printf x); dir=\${dir%?x}
while [ ! -d "$dir" ]; do dir=$(dirname -- "$dir"; printf x); dir=\${dir%?x}; done
rest=\${path#"$dir"/}
cd -- "$dir" || exit 3
g rev-parse --is-inside-work-tree >&3 || exit 3
base=$(base_ref) || exit 4
g cat-file blob "$base:./$rest" || exit 4`;
}
