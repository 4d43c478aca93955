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
