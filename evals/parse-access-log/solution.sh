python3 - <<'END'
import collections, json, re
paths, errors, size = collections.Counter(), 0, 0
for line in open("access.log"):
    found = re.fullmatch(r'\S+ \[[^\]]*\] "\S+ (.+) HTTP/[\d.]+" (\d{3}) (\d+|-)', line.strip())
    if not found:
        continue
    path, status, length = found.groups()
    paths[path.split("?")[0]] += 1
    errors += int(status) >= 500
    size += 0 if length == "-" else int(length)
top = sorted(paths, key=lambda path: (-paths[path], path))[:3]
json.dump({"requests": sum(paths.values()), "errors": errors, "bytes": size, "top": top}, open("summary.json", "w"))
END
