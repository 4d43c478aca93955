def total_cents(lines, discount=0):
    total = 0.0
    for price, quantity in lines:
        total += float(price) * quantity
    return int(total * (1 - discount / 100) * 100)
