export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.org GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.org
export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"
git init -q -b main
git config user.name Dev
git config user.email dev@example.org

printf 'total=0\nfor n in "$@"; do total=$((total + n)); done\necho $total\n' > sum.sh
git add . && git commit -qm "Add the sum"
for n in 1 2 3 4 5 6; do echo "note $n" >> notes.txt; git add . && git commit -qm "Note $n"; done
printf 'total=0\nfor n in "${@:2}"; do total=$((total + n)); done\necho $total\n' > sum.sh
git add . && git commit -qm "Tidy up"
for n in 7 8 9; do echo "note $n" >> notes.txt; git add . && git commit -qm "Note $n"; done
