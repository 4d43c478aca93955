import sys

sys.path.insert(0, ".")
from text_tools import shorten, slugify

assert slugify("Hello, World!") == "hello-world"
assert slugify("  Crème  brûlée -- 2 ways ") == "creme-brulee-2-ways"
assert slugify("***") == "untitled"
assert slugify("Ünïcödé") == "unicode"
assert slugify("A b", taken={"a-b"}) == "a-b-2"
assert slugify("A b", taken=["a-b", "a-b-2", "a-b-3"]) == "a-b-4"
assert slugify("", taken=("untitled",)) == "untitled-2"
assert shorten("abcdef", 4) == "abc…"
