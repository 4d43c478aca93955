cat > report.py <<'END'
def grouped_sum(rows, key, value):
    result = {}
    for row in rows:
        result[row[key]] = result.get(row[key], 0) + row[value]
    return dict(sorted(result.items()))


def sales_by_region(rows):
    return grouped_sum(rows, "region", "amount")


def sales_by_month(rows):
    return grouped_sum(rows, "month", "amount")


def hours_by_person(rows):
    return grouped_sum(rows, "person", "hours")
END
