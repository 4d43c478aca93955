"""Small tools for texts."""


def shorten(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"
