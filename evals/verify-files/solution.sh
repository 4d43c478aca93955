python3 - <<'END'
import hashlib, os
listed = {}
for line in open("checksums.txt"):
    digest, name = line.rstrip("\n").split("  ", 1)
    listed[os.path.basename(name)] = digest
def state(name):
    path = os.path.join("data", name)
    if not os.path.exists(path):
        return "missing"
    if name not in listed:
        return "unlisted"
    return "ok" if hashlib.sha256(open(path, "rb").read()).hexdigest() == listed[name] else "changed"
with open("report.txt", "w") as out:
    for name in sorted({*listed, *os.listdir("data")}):
        out.write(f"{name} {state(name)}\n")
END
cat report.txt
