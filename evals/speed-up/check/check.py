import random
import sys

sys.path.insert(0, ".")
from pairs import unique_pairs

operations = 0


class Counted(int):
    def __add__(self, other):
        return self._count(int(self) + int(other))

    def __sub__(self, other):
        return self._count(int(self) - int(other))

    def __rsub__(self, other):
        return self._count(int(other) - int(self))

    __radd__ = __add__

    def __eq__(self, other):
        return bool(self._count(int(self) == int(other)))

    def __hash__(self):
        return hash(int(self))

    def _count(self, value):
        global operations
        operations += 1
        return Counted(value)


def slow(numbers, target):
    pairs = {tuple(sorted((a, b))) for i, a in enumerate(numbers) for b in numbers[i + 1 :] if a + b == target}
    return sorted(pairs)


chance = random.Random(7)
for _ in range(200):
    numbers = [chance.randint(-6, 6) for _ in range(chance.randint(0, 12))]
    target = chance.randint(-8, 8)
    assert unique_pairs(list(numbers), target) == slow(numbers, target), (numbers, target)
many = [Counted(number) for number in range(3000)]
assert len(unique_pairs(many, 2999)) == 1500
assert operations < 200_000, operations
