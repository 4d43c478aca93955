python3 - <<'END'
import datetime, json
def day(text):
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y", "%Y%m%d"):
        try:
            return datetime.datetime.strptime(text, form).strftime("%Y-%m-%d")
        except ValueError:
            pass
    return None
seen = set()
with open("clean.jsonl", "w") as out:
    for line in open("people.jsonl"):
        person = json.loads(line)
        email = person["email"].lower()
        if email in seen:
            continue
        seen.add(email)
        out.write(json.dumps({**person, "born": day(person["born"])}) + "\n")
END
