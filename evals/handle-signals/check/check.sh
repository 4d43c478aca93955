set -e
place=$(mktemp -d)
cp worker.sh "$place"
cd "$place"
until_written() {
  for _ in $(seq 300); do
    if grep -qx 1 "$1" 2> /dev/null; then return; fi
    sleep 0.1
  done
  echo "nothing was written to $1"
  exit 1
}
echo 999999999 > lock
bash worker.sh one &
first=$!
until_written one
test "$(cat lock)" = "$first"
code=0
timeout 20 bash worker.sh two || code=$?
test $code = 3
test ! -e two
test "$(cat lock)" = "$first"
kill -TERM $first
code=0
wait $first || code=$?
test $code = 0
test "$(tail -n 1 one)" = stopped
test ! -e lock
bash worker.sh three &
second=$!
until_written three
kill -HUP $second
wait $second || true
test ! -e lock
