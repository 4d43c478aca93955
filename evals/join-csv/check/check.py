import csv


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


assert rows("totals.csv") == [
    ["name", "country", "orders", "total"],
    ["Bo", "SE", "2", "20.00"],
    ["Vega, Ana", "ES", "2", "20.00"],
    ["Chi", "VN", "0", "0.00"],
], rows("totals.csv")
assert rows("unknown.csv") == [["order_id", "customer_id", "amount"], ["13", "7", "3.00"]]
