set -e
place=$(mktemp -d)
mkdir "$place/the folder"
cd "$place/the folder"
printf one > 'a b.txt'
printf two > '*'
printf three > ./-n
printf four > plain
mkdir below
printf five > below/inner
cd - > /dev/null
printed=$(bash backup.sh "$place/the folder")
test "$printed" = "4 files" || { echo "it printed: $printed"; exit 1; }
for name in 'a b.txt' '*' -n plain; do
  cmp -- "$place/the folder/$name" "$place/the folder/.backup/$name"
done
test "$(ls -A "$place/the folder/.backup" | wc -l)" = 4
