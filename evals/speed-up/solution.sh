cat > pairs.py <<'END'
def unique_pairs(numbers, target):
    seen = set()
    found = set()
    for number in numbers:
        other = target - number
        if other in seen:
            found.add((min(number, other), max(number, other)))
        seen.add(number)
    return sorted(found)
END
