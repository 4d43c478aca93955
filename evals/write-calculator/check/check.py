import re
import sys

sys.path.insert(0, ".")
with open("calc.py", encoding="utf-8") as file:
    assert not re.search(r"\b(eval|exec|compile|ast|__import__|importlib)\b", file.read()), "it borrows a parser"
from calc import calculate

for text, expected in [("1+2*3", 7), ("(1+2)*3", 9), ("10-4-3", 3), ("-2*-3", 6), ("7/2", 3), ("-7/2", -3), ("2*(3+(4-1))/ 3", 4), (" 12 ", 12), ("-(1+1)", -2), ("100/10/5", 2)]:
    assert calculate(text) == expected, (text, calculate(text))
for text in ["", "1+", "(1", "1)", "1 2", "a", "*1", "1//2", "()"]:
    try:
        calculate(text)
    except ValueError:
        continue
    raise AssertionError(f"{text!r} was accepted")
try:
    calculate("1/(2-2)")
    raise AssertionError("divided by zero")
except ZeroDivisionError:
    pass
