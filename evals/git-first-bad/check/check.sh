set -e
expected=$(git log --format=%H --grep='^Tidy up$')
test "$(tr -d '[:space:]' < answer.txt)" = "$expected"
test -z "$(git status --porcelain --untracked-files=no)"
test "$(git symbolic-ref --short HEAD)" = main
