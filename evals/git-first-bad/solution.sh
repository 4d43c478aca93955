git bisect start HEAD "$(git rev-list --max-parents=0 HEAD)"
git bisect run bash -c 'test "$(bash sum.sh 1 2 3)" = 6' > /dev/null
git rev-parse refs/bisect/bad > answer.txt
git bisect reset
cat answer.txt
