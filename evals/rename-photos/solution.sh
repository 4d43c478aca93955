cd photos
for file in "IMG "*; do
  [[ $file =~ ^IMG\ ([0-9]{4}-[0-9]{2}-[0-9]{2})(\ \(([0-9]+)\))?\.([A-Za-z]+)$ ]] || continue
  printf -v number %02d "$((10#${BASH_REMATCH[3]:-1}))"
  mv -- "$file" "${BASH_REMATCH[1]}-$number.${BASH_REMATCH[4],,}"
done
ls -1
