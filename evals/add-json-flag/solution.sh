cat > count_words.py <<'END'
import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    counts = {}
    failed = False
    for path in options.paths:
        try:
            with open(path, encoding="utf-8") as file:
                counts[path] = len(file.read().split())
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            failed = True
    if options.json:
        print(json.dumps({**counts, "total": sum(counts.values())}))
    else:
        for path, count in counts.items():
            print(f"{path}: {count}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
END
