set -e
test "$(git log --format=%s main | tr '\n' ,)" = "Remove the key,Go on,Configure,Begin,"
test "$(git log --format='%an %aI' main | sort -u | wc -l)" = 1
test -z "$(git log --all --format=%H -- config/key.pem)"
test -z "$(git for-each-ref refs/original)"
for commit in $(git rev-list --all); do
  if git grep -q THE-SECRET "$commit"; then echo "$commit has it"; exit 1; fi
done
test "$(git show main:app.txt | tr '\n' ,)" = "one,two,three,four,"
test "$(git show main~2:app.txt | tr '\n' ,)" = "one,two,"
