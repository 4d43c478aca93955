set -e
bash test.sh
test "$(git rev-list --merges --count main)" = 1
git merge-base --is-ancestor feature main
test -z "$(git status --porcelain --untracked-files=no)"
test -z "$(git ls-files -u)"
test "$(git show main:greet.sh)" = "$(cat greet.sh)"
! grep -q '<<<<' greet.sh
