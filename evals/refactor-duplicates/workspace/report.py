def sales_by_region(rows):
    result = {}
    for row in rows:
        if row["region"] not in result:
            result[row["region"]] = 0
        result[row["region"]] += row["amount"]
    return dict(sorted(result.items()))


def sales_by_month(rows):
    result = {}
    for row in rows:
        if row["month"] not in result:
            result[row["month"]] = 0
        result[row["month"]] += row["amount"]
    return dict(sorted(result.items()))


def hours_by_person(rows):
    result = {}
    for row in rows:
        if row["person"] not in result:
            result[row["person"]] = 0
        result[row["person"]] += row["hours"]
    return dict(sorted(result.items()))
