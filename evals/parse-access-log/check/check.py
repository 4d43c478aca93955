import json

with open("summary.json") as file:
    summary = json.load(file)
assert summary == {"requests": 7, "errors": 2, "bytes": 141, "top": ["/a", "/b", "/c"]}, summary
