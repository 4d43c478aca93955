import sys

with open("settings.toml", "rb") as file:
    text = file.read()
try:
    import tomllib
except ImportError:
    sys.exit("Python 3.11 is needed")
assert tomllib.loads(text.decode()) == {
    "server": {
        "host": "127.0.0.1",
        "port": 8080,
        "debug": False,
        "limits": {"requests": 100, "burst": "yes", "origins": ["a.example", "b.example", "c.example"]},
    },
    "paths": {"home": "~/data", "note": 'say "hi" \\ bye'},
}, tomllib.loads(text.decode())
