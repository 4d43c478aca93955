"""A window on one file."""

import os

from .files import check_line, clipped, lines_of, read
from .refusal import Refused, reported

WINDOW = 100
MAX_WINDOW = 2000

opened = {"path": None, "line": 1, "window": WINDOW}


@reported
def open_file(path, line_number=1, context_lines=WINDOW):
    """Shows `context_lines` lines of a file around `line_number`, and keeps the file open for goto_line and scrolling."""
    text = read(path)
    count = len(lines_of(text))
    check_line(line_number, max(count, 1))
    opened.update(path=os.path.abspath(path), line=line_number, window=max(1, min(int(context_lines), MAX_WINDOW)))
    show(text)


@reported
def goto_line(line_number):
    """Moves the window of the open file to `line_number`."""
    text = current()
    check_line(line_number, max(len(lines_of(text)), 1))
    opened["line"] = line_number
    show(text)


@reported
def scroll_down():
    """Moves the window of the open file one window down."""
    _scroll(+1)


@reported
def scroll_up():
    """Moves the window of the open file one window up."""
    _scroll(-1)


def _scroll(direction):
    text = current()
    count = max(len(lines_of(text)), 1)
    opened["line"] = max(1, min(count, opened["line"] + direction * opened["window"]))
    show(text)


def current():
    if opened["path"] is None:
        raise Refused("no file is open; begin with open_file(path)")
    return read(opened["path"])


def show(text):
    lines = lines_of(text)
    window, line = opened["window"], opened["line"]
    first = max(1, min(line - window // 2, len(lines) - window + 1))
    last = min(len(lines), first + window - 1)
    print(f"[File: {opened['path']} ({len(lines)} lines)]")
    print(f"({first - 1} lines above)" if first > 1 else "(the file begins here)")
    for number in range(first, last + 1):
        print(f"{number}|{clipped(lines[number - 1])}")
    print(f"({len(lines) - last} lines below)" if last < len(lines) else "(the file ends here)")
