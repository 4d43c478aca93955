def page_of(items, number, size):
    """The items of page `number` (the first page is 1)."""
    start = number * size
    return items[start : start + size - 1]
