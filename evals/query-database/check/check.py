import json

with open("sales.json") as file:
    sales = json.load(file)
assert sales == [{"product": "book", "quantity": 3, "cents": 2997}, {"product": "pen", "quantity": 15, "cents": 1800}], sales
