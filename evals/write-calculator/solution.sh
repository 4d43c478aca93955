cat > calc.py <<'END'
import re


def calculate(text):
    tokens = re.findall(r"\d+|\S", text)
    value, rest = add(tokens)
    if rest:
        raise ValueError(f"unexpected {rest[0]}")
    return value


def add(tokens):
    value, tokens = multiply(tokens)
    while tokens and tokens[0] in "+-":
        other, rest = multiply(tokens[1:])
        value = value + other if tokens[0] == "+" else value - other
        tokens = rest
    return value, tokens


def multiply(tokens):
    value, tokens = factor(tokens)
    while tokens and tokens[0] in "*/":
        other, rest = factor(tokens[1:])
        if tokens[0] == "*":
            value *= other
        else:
            quotient = abs(value) // abs(other)
            value = quotient if (value < 0) == (other < 0) else -quotient
        tokens = rest
    return value, tokens


def factor(tokens):
    if not tokens:
        raise ValueError("it ends too early")
    first, *rest = tokens
    if first == "-":
        value, rest = factor(rest)
        return -value, rest
    if first == "(":
        value, rest = add(rest)
        if not rest or rest[0] != ")":
            raise ValueError("a parenthesis is open")
        return value, rest[1:]
    if first.isdigit():
        return int(first), rest
    raise ValueError(f"unexpected {first}")
END
