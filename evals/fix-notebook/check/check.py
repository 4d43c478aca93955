import json

with open("temperatures.ipynb") as file:
    notebook = json.load(file)
cells = notebook["cells"]
assert notebook["nbformat"] == 4 and [cell["cell_type"] for cell in cells] == ["markdown", "code", "code", "code"]
sources = ["".join(cell["source"]) for cell in cells]
assert sources[1] == "readings = [21.5, 19.0, None, 22.5]" and sources[3] == "print(mean)"
assert all(cell["outputs"] == [] for cell in cells[1:])
for readings, expected in [([21.5, 19.0, None, 22.5], 21.0), ([None], None), ([], None), ([0, None], 0)]:
    names = {"readings": readings}
    exec(sources[2], names)
    assert names["mean"] == expected, (readings, names["mean"])
