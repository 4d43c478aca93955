import sys

sys.path.insert(0, ".")
from invoice import total_cents

assert total_cents([("19.99", 3)]) == 5997
assert total_cents([("0.29", 1), ("0.01", 1)]) == 30
assert total_cents([("1.15", 100)]) == 11500
assert total_cents([("0.05", 1)], discount=10) == 5, total_cents([("0.05", 1)], discount=10)
assert total_cents([("10.05", 1)], discount=50) == 503
assert total_cents([("1000000000000.01", 7)]) == 700000000000007
assert isinstance(total_cents([]), int) and total_cents([]) == 0
