import { shellQuote } from '@tendon/protocol/executor-api';
import type { RepositorySource } from '../../git-providers/repository-source.ts';

/** What the exit codes of the script say; everything else is git's own failure. */
export const CLONE_EXIT = { done: 0, wasThere: 3, inTheWay: 4, noGit: 127 } as const;

export interface CloneScriptOptions extends RepositorySource {
  /** Made when no branch is named, so that the agent's work is on a branch of its own. */
  readonly newBranch: string;
  /** Of one file, which is where git puts what it fetched. */
  readonly maxBytes: number;
  readonly depth?: number;
  readonly user: { readonly name: string; readonly email: string };
}

/**
 * Clones beside the place and moves it there when it is whole: cut off at any point, the next run begins anew. A folder of that
 * name that is the same repository is left as it is.
 */
export function cloneScript({ url, folder, branch, newBranch, maxBytes, depth, user }: CloneScriptOptions): string {
  return `
name=${shellQuote(folder)} url=${shellQuote(url)}
command -v git >/dev/null || exit ${CLONE_EXIT.noGit}
[ -n "$(git config --global user.name)" ] || {
  git config --global user.name ${shellQuote(user.name)}
  git config --global user.email ${shellQuote(user.email)}
}
if [ -e "$name" ] || [ -L "$name" ]; then
  [ "$(git -C "$name" config --local --get remote.origin.url)" = "$url" ] && exit ${CLONE_EXIT.wasThere}
  rmdir -- "$name" 2>/dev/null || exit ${CLONE_EXIT.inTheWay}
fi
rm -rf -- .tendon-clone-*
temp=.tendon-clone-$$
mkdir -- "$temp" || exit 1
ulimit -f ${Math.floor(maxBytes / 1024)}
trap 'rm -rf -- "$temp"' EXIT
git -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 clone --progress ${depth ? `--depth ${depth} ` : ''}${branch ? `--branch ${shellQuote(branch)} ` : ''}-- "$url" "$temp/new" 2>&1 || exit 5
${branch ? '' : `git -C "$temp/new" checkout -q -b ${shellQuote(newBranch)} || exit 6`}
mv -T -- "$temp/new" "$name" || exit 7
exit ${CLONE_EXIT.done}
`;
}

/** Puts the repository's own check before its commits; a hook that is there already is kept and called after it. */
export const HOOK_SCRIPT = `
[ -f .openhands/pre-commit.sh ] || exit 0
hooks=$(git rev-parse --git-path hooks) && mkdir -p -- "$hooks" || exit 1
hook=$hooks/pre-commit
if [ -e "$hook" ] || [ -L "$hook" ]; then grep -q '^# tendon: ' "$hook" || mv -- "$hook" "$hook.local" || exit 1; fi
cat >"$hook" <<'HOOK'
#!/bin/sh
# tendon: the repository's own check, then the hook that was here before.
[ ! -f .openhands/pre-commit.sh ] || bash .openhands/pre-commit.sh "$@" || exit $?
before=$(git rev-parse --git-path hooks)/pre-commit.local
[ ! -x "$before" ] || exec "$before" "$@"
HOOK
chmod +x "$hook"
`;
