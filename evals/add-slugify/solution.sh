cat >> text_tools.py <<'END'


def slugify(title, taken=()):
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = "-".join(re.findall("[a-z0-9]+", plain)) or "untitled"
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
END
sed -i '2i import re\nimport unicodedata' text_tools.py
