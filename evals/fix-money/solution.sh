cat > invoice.py <<'END'
from decimal import ROUND_HALF_UP, Decimal


def total_cents(lines, discount=0):
    total = sum((Decimal(price) * quantity for price, quantity in lines), Decimal(0))
    cents = total * (100 - Decimal(str(discount)))
    return int(cents.quantize(Decimal(1), rounding=ROUND_HALF_UP))
END
