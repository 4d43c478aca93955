import sys

sys.path.insert(0, ".")
from pages import page_of

letters = list("abcdefg")
assert page_of(letters, 1, 3) == ["a", "b", "c"], page_of(letters, 1, 3)
assert page_of(letters, 2, 3) == ["d", "e", "f"]
assert page_of(letters, 3, 3) == ["g"]
assert page_of(letters, 4, 3) == []
for number, size in [(0, 3), (1, 0), (-1, 2), (1, -2)]:
    try:
        page_of(letters, number, size)
    except ValueError:
        continue
    raise AssertionError(f"page {number} of size {size} was accepted")
