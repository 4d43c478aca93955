cat > test_leap.py <<'END'
import unittest

from leap import is_leap


class LeapTest(unittest.TestCase):
    def test_years(self):
        for year, expected in [(2023, False), (2024, True), (1900, False), (2000, True), (2100, False), (4, True), (1, False)]:
            self.assertIs(is_leap(year), expected, year)

    def test_years_before_the_first(self):
        for year in (0, -4):
            with self.assertRaises(ValueError):
                is_leap(year)


if __name__ == "__main__":
    unittest.main()
END
python3 -m unittest -q
