import json

expected = {
    "de": {"title": "Tasks", "menu": {"open": "Open", "close": "Schließen"}, "empty": "Nichts zu tun"},
    "fr": {"title": "Tâches", "menu": {"open": "Ouvrir", "close": "Fermer"}, "empty": "Rien à faire"},
    "en": {"title": "Tasks", "menu": {"open": "Open", "close": "Close"}, "empty": "Nothing to do"},
}
for name, value in expected.items():
    with open(f"locales/{name}.json", encoding="utf-8") as file:
        assert file.read() == json.dumps(value, indent=2, ensure_ascii=False) + "\n", name
