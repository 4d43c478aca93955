python3 - <<'END'
import csv
from decimal import Decimal
customers = {row["customer_id"]: [row["name"], row["country"], 0, Decimal("0.00")] for row in csv.DictReader(open("customers.csv", newline=""))}
orders = list(csv.reader(open("orders.csv", newline="")))
unknown = []
for order in orders[1:]:
    if order[1] in customers:
        customers[order[1]][2] += 1
        customers[order[1]][3] += Decimal(order[2])
    else:
        unknown.append(order)
with open("totals.csv", "w", newline="") as file:
    rows = sorted(customers.values(), key=lambda row: (-row[3], row[0]))
    csv.writer(file).writerows([["name", "country", "orders", "total"], *rows])
with open("unknown.csv", "w", newline="") as file:
    csv.writer(file).writerows([orders[0], *unknown])
END
