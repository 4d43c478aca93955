import ast
import sys

sys.path.insert(0, ".")
import report

rows = [
    {"region": "s", "month": 2, "amount": 5, "person": "b", "hours": 1},
    {"region": "n", "month": 1, "amount": 7, "person": "a", "hours": 2},
    {"region": "s", "month": 1, "amount": 1, "person": "b", "hours": 4},
]
assert list(report.sales_by_region(rows).items()) == [("n", 7), ("s", 6)]
assert list(report.sales_by_month(rows).items()) == [(1, 8), (2, 5)]
assert list(report.hours_by_person(rows).items()) == [("a", 2), ("b", 5)]
assert report.grouped_sum(rows, "region", "hours") == {"n": 2, "s": 5}
assert report.sales_by_region([]) == {}
with open("report.py", encoding="utf-8") as file:
    tree = ast.parse(file.read())
loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While, ast.comprehension))]
assert len(loops) == 1, f"{len(loops)} loops"
