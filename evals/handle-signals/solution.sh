cat > worker.sh <<'END'
#!/bin/bash
if [ -e lock ] && kill -0 "$(cat lock)" 2> /dev/null; then
  echo "already running" >&2
  exit 3
fi
echo $$ > lock
trap 'rm -f lock' EXIT
trap 'exit 1' HUP INT
trap 'echo stopped >> "$1"; exit 0' TERM
n=0
while true; do
  n=$((n + 1))
  echo $n >> "$1"
  sleep 0.1
done
END
