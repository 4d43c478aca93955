def is_leap(year):
    """Whether the year has a 29th of February in the Gregorian calendar. Years before 1 raise ValueError."""
    if year < 1:
        raise ValueError("years start at 1")
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
