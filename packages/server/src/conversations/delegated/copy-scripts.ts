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
/** In the copy: the repositories that it began with, a line for each, ended by a slash. */
const PLACES = '.tendon/copy.git/places';

const LOCK_SECONDS = 120;

const PRELUDE = `exec 2>&1
command -v git >/dev/null || exit ${NO_GIT}
export GIT_TERMINAL_PROMPT=0
root=$PWD
# The script of a server that was killed may still be at work here: it goes first.
exec 9<"$root"
! command -v flock >/dev/null || timeout ${LOCK_SECONDS} flock 9 || { echo 'another program has locked the folder'; exit 1; }
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
  g add -A --ignore-errors >/dev/null 2>&1 || : # a warning for each file may be more than is read
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
  for dir in */; do [ ! -L "\${dir%/}" ] && is_place "\${dir%/}" && printf '%s\\n' "$dir"; done >${PLACES}
  { echo /.tendon/; sed 's|[][*?\\]|\\\\&|g; s|^|/|' ${PLACES}; } >.tendon/copy.git/info/exclude
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
  save 'The workspace when this work was delegated' && : >"$(g rev-parse --git-dir)/tendon-began" && g update-ref "$refs/base" HEAD
}
each prepare`;
}

/**
 * In the copy, when its agent has ended: commits what it has not, and packs what is new. Prints, for each place with something new, five
 * fields ended by NUL: the output of git, the place, the newest commit, the one that its agent began with (after a `+` where that is none of the
 * workspace's own), and the changed files. A repository that the agent has made is handed over as files.
 *
 * What is new and not packed has fields of its own, without a newest commit; where its agent has removed the history by which that is found,
 * without the commit that it began with either. A copy of which nothing is printed is the one that was made.
 */
export function collectScript(branch: string, title: string): string {
  return `${PRELUDE}
${refsOf(branch)}
title=${shellQuote(title)}
is_place() {
  is_repository "$1" && { [ "$1" = . ] || grep -qxFe "$1/" ${PLACES}; } && g -C "$1" rev-parse -q --verify "$refs/base" >/dev/null
}
# Files of submodules, whose histories are not in the copy, are nothing to git. A marker that is gone counts as a change.
changed_inside() {
  g ls-files -s -z | tr '\\0' '\\n' | sed -n 's/^160000 [0-9a-f]* [0-3].//p' | while IFS= read -r inner; do
    [ -e "$inner/.git" ] || [ ! -d "$inner" ] || find "./$inner" -cnewer "$(g rev-parse --git-dir)/tendon-began" 2>/dev/null || echo "$inner"
  done
}
left() { printf '\\0%s\\0\\0%s\\0\\0' "$1" "$2"; }
if is_place .; then :
elif [ -f ${PLACES} ] && g --git-dir=.tendon/copy.git rev-parse -q --verify "$refs/base" >/dev/null; then
  while IFS= read -r dir; do is_place "\${dir%/}" || left "\${dir%/}"; done <${PLACES}
else left .; exit 0
fi
show() { for held in .tendon/held-*; do [ ! -e "$held" ] || mv -- "$held" "\${held#.tendon/held-}/.git"; done; }
hide() {
  for dir in */; do
    case $known in *"/$dir"*) continue ;; esac
    [ -L "\${dir%/}" ] || [ ! -e "$dir.git" ] || mv -- "$dir.git" ".tendon/held-\${dir%/}" || return 1
  done
}
collect() {
  [ -n "$place" ] || { show; hide || return 1; }
  save "$title"; saved=$?
  [ -n "$place" ] || show
  [ $saved = 0 ] && base=$(g rev-parse "$refs/base") && tip=$(g rev-parse HEAD) || return 1
  if [ -z "$(g rev-list -n1 HEAD --not --glob="$refs/*")" ]; then
    tip=$(g rev-list -n1 --branches --not --glob="$refs/*")
  fi
  g rev-parse -q --verify "$refs/was/$base" >/dev/null && began=$base || began=+$base
  if [ -n "$tip" ]; then
    stat=$(g diff --stat=100 --stat-count=40 "$base" "$tip")
    if [ -n "$place" ]; then
      g update-ref "$result" "$tip" && rm -f ${BUNDLE} || return 1
      g bundle create ${BUNDLE} "$result" --not --glob="$refs/was/*" >/dev/null || return 1
    else
      g diff-tree -r --binary --full-index "$base" "$tip" >"$root/${PATCH}" || return 1
    fi
    printf '\\0%s\\0%s\\0%s\\0%s\\0' "$place" "$tip" "$began" "$stat"
  fi
  # Commits of a repository inside it are in no bundle of this one, and what is not committed there is in no commit.
  if [ -n "$(g rev-list -n1 --all --not --glob="$refs/*" $tip)" ] || ! rest=$(g status --porcelain --ignore-submodules=none) || [ -n "$rest$(changed_inside)" ] ||
    g diff-tree -r "$base" "\${tip:-$base}" | grep -q '^:[0-7]* 160000'; then left "$place" "$began"; fi
}
each collect`;
}

/** In the workspace: takes the commits of a place from a file of the workspace, which goes, and makes the branch. */
export function takeScript({ place, file, branch, tip }: Readonly<Record<'place' | 'file' | 'branch' | 'tip', string>>): string {
  return `${PRELUDE}
{ is_repository ${shellQuote(place)} || { echo 'its repository is not here'; false; }; } && cd -- ${shellQuote(place)} && g bundle unbundle "$root/"${shellQuote(file)} >/dev/null
taken=$?
rm -f -- "$root/"${shellQuote(file)}
[ $taken = 0 ] && g update-ref ${shellQuote(`refs/heads/${branch}`)} ${shellQuote(tip)}`;
}
