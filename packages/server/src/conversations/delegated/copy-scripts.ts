/**
 * What git does in the copy that a delegated agent works in, and in the workspace that it was made from. All of it runs in the sandbox of
 * the one or the other, never on the host, and no hook of a repository runs.
 *
 * A place is the workspace itself where it is a repository, otherwise each repository right inside it, and with the empty name the files
 * beside those: their history is in `.tendon/copy.git` of the copy. In a copy `refs/tendon-copy/ID/was/*` is what the workspace had, and
 * `refs/tendon-copy/ID/base` what the agent began with: each copy has refs of its own, because one may be made from another.
 */
import { shellQuote } from '@tendon/protocol/executor-api';

export const NO_GIT = 127;
/** In a repository of the copy: its new commits. */
export const BUNDLE = '.git/tendon.bundle';
/** In a repository of the copy: files that were deleted and not committed, each ended by NUL. */
export const DELETED = '.git/tendon-deleted';
/** In the copy. */
export const PATCH = '.tendon/copy.patch';

const PRELUDE = `exec 2>&1
command -v git >/dev/null || exit ${NO_GIT}
export GIT_TERMINAL_PROMPT=0
root=$PWD
g() {
  git --no-pager -c safe.directory='*' -c core.quotePath=false -c core.fsmonitor=false -c core.hooksPath=/dev/null -c commit.gpgSign=false \\
    -c gc.auto=0 -c advice.addEmbeddedRepo=false "$@"
}
is_repository() { [ -d "$1/.git" ] && [ ! -L "$1/.git" ] && g -C "$1" rev-parse -q --git-dir >/dev/null; }
known=/
each() {
  if is_place .; then place=.; "$1" || exit 1; return 0; fi
  for dir in */; do
    [ ! -L "\${dir%/}" ] && is_place "\${dir%/}" || continue
    known=$known$dir place=\${dir%/}
    cd -- "$root/$dir" && "$1" || exit 1
    cd -- "$root" || exit 1
  done
  place=
  [ -d .tendon/copy.git ] || return 0
  export GIT_DIR="$root/.tendon/copy.git" GIT_WORK_TREE="$root"
  "$1" || exit 1
}
save() {
  g add -A --ignore-errors >/dev/null || :
  g diff --cached --quiet HEAD >/dev/null 2>&1 || g commit -q --no-verify --allow-empty -m "$1"
}`;

/** In the workspace: each place, the names of its deleted files, an empty one, all ended by NUL. */
export const DELETED_SCRIPT = `${PRELUDE}
is_place() { is_repository "$1"; }
deleted() {
  [ -n "$place" ] || return 0
  printf '%s\\0' "$place"
  g ls-files -d -z 2>/dev/null
  printf '\\0'
}
each deleted`;

/** Who commits, where the sandbox does not know. */
export interface Committer {
  readonly name: string;
  readonly email: string;
}

function refsOf(branch: string): string {
  const id = branch.slice(branch.indexOf('/') + 1);
  return `branch=${shellQuote(branch)} refs=${shellQuote(`refs/tendon-copy/${id}`)} result=${shellQuote(`refs/tendon-result/${id}`)}`;
}

/**
 * In the copy, before its agent: puts it on a branch of its own, with everything committed. Cut off at any point, it can be run again.
 * Tracked files that a copy leaves out (secrets by their names, caches) are as in the last commit.
 */
export function prepareScript(branch: string, { name, email }: Committer): string {
  return `${PRELUDE}
${refsOf(branch)}
[ -n "$(git config --global user.name)" ] || {
  git config --global user.name ${shellQuote(name)}
  git config --global user.email ${shellQuote(email)}
}
is_place() { is_repository "$1"; }
if ! is_place .; then
  mkdir -p .tendon && { [ -d .tendon/copy.git ] || g init -q --bare .tendon/copy.git; } && mkdir -p .tendon/copy.git/info || exit 1
  { echo /.tendon/; for dir in */; do is_place "\${dir%/}" && printf '/%s\\n' "$dir"; done; } >.tendon/copy.git/info/exclude
fi
prepare() {
  ! g rev-parse -q --verify "$refs/base" >/dev/null || return 0
  if [ "$(g symbolic-ref -q HEAD)" != "refs/heads/$branch" ]; then
    head=$(g rev-parse -q --verify 'HEAD^{commit}')
    { [ -z "$head" ] || echo "$head"; g for-each-ref --format='%(objectname)'; } | sort -u | sed "s|.*|update $refs/was/& &|" |
      g update-ref --stdin || return 1
    [ -z "$head" ] || g update-ref "refs/heads/$branch" "$head" || return 1
    g symbolic-ref HEAD "refs/heads/$branch" || return 1
  fi
  g ls-files -d -z 2>/dev/null | g checkout-index -f -q -z --stdin
  if [ -n "$place" ] && [ -f ${DELETED} ]; then xargs -0 rm -f -- <${DELETED}; rm -f ${DELETED}; fi
  save 'The workspace when this work was delegated' && g update-ref "$refs/base" HEAD
}
each prepare`;
}

/**
 * In the copy, when its agent has ended: commits what it has not, and packs what is new. Prints, for each place with something new, five
 * fields ended by NUL: the output of git, the place, the newest commit, the one that its agent began with (after a `+` where that is none of the
 * workspace's own), and the changed files. A repository that the agent has made is handed over as files.
 */
export function collectScript(branch: string, title: string): string {
  return `${PRELUDE}
${refsOf(branch)}
title=${shellQuote(title)}
is_place() { is_repository "$1" && g -C "$1" rev-parse -q --verify "$refs/base" >/dev/null; }
show() { for held in .tendon/held-*; do [ ! -e "$held" ] || mv -- "$held" "\${held#.tendon/held-}/.git"; done; }
hide() {
  for dir in */; do
    case $known in *"/$dir"*) continue ;; esac
    [ ! -e "$dir.git" ] || mv -- "$dir.git" ".tendon/held-\${dir%/}" || return 1
  done
}
collect() {
  [ -n "$place" ] || { show; hide || return 1; }
  save "$title"; saved=$?
  [ -n "$place" ] || show
  [ $saved = 0 ] && base=$(g rev-parse "$refs/base") && tip=$(g rev-parse HEAD) || return 1
  if [ -z "$(g rev-list -n1 HEAD --not --glob="$refs/*")" ]; then
    tip=$(g rev-list -n1 --branches --not --glob="$refs/*")
    [ -n "$tip" ] || [ -n "$(g rev-list -n1 --all --not --glob="$refs/*")" ] || return 0
  fi
  stat=
  if [ -n "$tip" ]; then
    stat=$(g diff --stat=100 --stat-count=40 "$base" "$tip")
    if [ -n "$place" ]; then
      g update-ref "$result" "$tip" && rm -f ${BUNDLE} || return 1
      g bundle create ${BUNDLE} "$result" --not --glob="$refs/was/*" >/dev/null || return 1
    else
      g diff --binary --full-index "$base" "$tip" >"$root/${PATCH}" || return 1
    fi
  fi
  g rev-parse -q --verify "$refs/was/$base" >/dev/null || base=+$base
  printf '\\0%s\\0%s\\0%s\\0%s\\0' "$place" "$tip" "$base" "$stat"
}
each collect`;
}

/** In the workspace: takes the commits of a place from a file, which goes, and makes the branch. */
export function takeScript({ place, file, branch, tip }: Readonly<Record<'place' | 'file' | 'branch' | 'tip', string>>): string {
  return `${PRELUDE}
cd -- ${shellQuote(place)} || exit 1
g bundle unbundle ${shellQuote(file)} >/dev/null
taken=$?
rm -f -- ${shellQuote(file)}
[ $taken = 0 ] && g update-ref ${shellQuote(`refs/heads/${branch}`)} ${shellQuote(tip)}`;
}
