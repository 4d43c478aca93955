cat > backup.sh <<'END'
#!/bin/bash
cd -- "$1" || exit 1
mkdir -p .backup
count=0
for file in ./*; do
  if [ -f "$file" ]; then
    cp -- "$file" .backup/
    count=$((count + 1))
  fi
done
echo "$count files"
END
