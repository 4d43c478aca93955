import sys


def main(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            print(f"{path}: {len(file.read().split())}")


if __name__ == "__main__":
    main(sys.argv[1:])
