python3 - <<'END'
import json
def synced(english, own):
    if isinstance(english, dict):
        return {key: synced(value, own.get(key) if isinstance(own, dict) else None) for key, value in english.items()}
    return english if own is None else own
english = json.load(open("locales/en.json"))
for name in ("de", "fr"):
    path = f"locales/{name}.json"
    text = json.dumps(synced(english, json.load(open(path))), indent=2, ensure_ascii=False)
    open(path, "w").write(text + "\n")
END
