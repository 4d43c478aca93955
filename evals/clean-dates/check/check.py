import json

with open("clean.jsonl") as file:
    people = [json.loads(line) for line in file if line.strip()]
assert [(one["name"], one["born"]) for one in people] == [
    ("Ana", "1990-04-05"),
    ("Bo", "1985-07-06"),
    ("Chi", "2001-12-24"),
    ("Dee", "2000-02-29"),
    ("Eli", None),
    ("Fay", None),
], people
assert all(set(one) == {"name", "email", "born"} for one in people)
