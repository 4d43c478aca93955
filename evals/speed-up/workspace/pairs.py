def unique_pairs(numbers, target):
    found = []
    for i, a in enumerate(numbers):
        for b in numbers[i + 1 :]:
            pair = (min(a, b), max(a, b))
            if a + b == target and pair not in found:
                found.append(pair)
    return sorted(found)
